// YamlError, with messages and line numbers of kube-apiserver.

export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/** `line` counts from 0; errors on the first line have no line number. */
const linePrefix = (line: number, printedLine: number): string => (line === 0 ? '' : `line ${printedLine}: `)

export const scanError = (problem: string, line: number): YamlError => new YamlError(`yaml: ${linePrefix(line, line + 1)}${problem}`)

/** Parser error; kube-apiserver reports the previous line. */
export const parseError = (problem: string, line: number): YamlError => new YamlError(`yaml: ${linePrefix(line, line)}${problem}`)

export const valueError = (problem: string): YamlError => new YamlError(`yaml: ${problem}`)
