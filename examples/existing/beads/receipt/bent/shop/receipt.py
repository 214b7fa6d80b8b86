def receipt(basket):
    return ""
