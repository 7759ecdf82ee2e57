// Escapes control characters that JSON allows unescaped but that terminals interpret or log readers take for line ends.

/** C1 control characters (U+009B begins an escape sequence) and the line and paragraph separators. */
const controls = /[\x80-\x9f\u2028\u2029]/g

export const escapeJsonControls = (line: string): string =>
  line.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
