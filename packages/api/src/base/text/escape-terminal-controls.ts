// Escapes control characters in untrusted text before it is written to a terminal.

const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g

/** Keeps line breaks and tabs. ESC becomes `^[`, as kubectl writes it. */
export const escapeTerminalControls = (text: string): string => text.replaceAll(controls, escapeControl)

export const escapeTerminalLine = (text: string): string => escapeTerminalControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

function escapeControl(char: string): string {
  const code = char.charCodeAt(0)
  if (char === '\r') return '\\r'
  return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : `\\u00${code.toString(16)}`
}
