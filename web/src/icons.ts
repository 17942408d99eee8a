// The icons of the page: one path each, on a grid of 20 by 20.

export const PLAY = "M6.5 4.2v11.6L15.5 10z";
export const PAUSE = "M7 4.5v11M13 4.5v11";
export const BACK = "M14.5 4.5 8 10l6.5 5.5zM5.5 4.5v11";
export const FORWARD = "M5.5 4.5 12 10l-6.5 5.5zM14.5 4.5v11";
export const CLOSE = "m5 5 10 10M15 5 5 15";
export const SUN =
  "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.8v1.7M10 16.5v1.7M1.8 10h1.7M16.5 10h1.7M4.2 4.2l1.2 1.2M14.6 14.6l1.2 1.2M15.8 4.2l-1.2 1.2M5.4 14.6l-1.2 1.2";
export const MOON = "M16.5 12.2A7 7 0 1 1 7.8 3.5a5.6 5.6 0 0 0 8.7 8.7z";
export const KEYS =
  "M3 6.2h14a1 1 0 0 1 1 1v6.6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V7.2a1 1 0 0 1 1-1zM5.2 9h.1M8.2 9h.1M11.2 9h.1M14.4 9h.1M6.5 12h7";
export const PLUS = "M10 4.5v11M4.5 10h11";
export const MINUS = "M4.5 10h11";
export const FIT = "M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4";
export const RETURN = "M16 10H4M9 5l-5 5 5 5";
export const ARROW = "M4 10h12M11 5l5 5-5 5";
export const ASK = "M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM13 13l4 4";
export const GRAPH =
  "M5 6.5a2 2 0 1 0 0-.1zM13.5 4.8a1.8 1.8 0 1 0 0-.1zM12 14.5a2.3 2.3 0 1 0 0-.1zM6.5 7.6l4.2 5.2M6.9 5.9l4.9-1M13.9 6.4l-.3 6";
export const PULSE = "M2 10.5h4l2.2-6 3.6 11 2.2-5H18";
export const UP =
  "M6 9.5v7H3.5v-7zM6 9.5l3.5-6.5c1.5 0 2 1 1.8 2.2L10.8 8h4.4c1 0 1.7.9 1.4 1.9l-1.3 5.2c-.2.8-.8 1.4-1.7 1.4H6";
export const DOWN =
  "M6 10.5v-7H3.5v7zM6 10.5l3.5 6.5c1.5 0 2-1 1.8-2.2L10.8 12h4.4c1 0 1.7-.9 1.4-1.9l-1.3-5.2c-.2-.8-.8-1.4-1.7-1.4H6";
