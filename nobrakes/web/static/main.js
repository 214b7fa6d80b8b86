// What every page begins with.
import "./forms.js";
import "./keys.js";
import "./notices.js";
import "./stream.js";
