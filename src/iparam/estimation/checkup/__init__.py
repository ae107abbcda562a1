"""What a recording holds, and the judgement of what is identified from it: green, amber or red."""
