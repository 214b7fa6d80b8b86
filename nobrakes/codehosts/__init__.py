"""Code hosts: one file each behind the port `CodeHost`. What runs their programs is given to them."""
