// What every page begins with.
import "./forms.js";
import "./stream.js";
