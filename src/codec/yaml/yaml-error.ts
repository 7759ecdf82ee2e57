// Why a text is no YAML that this server reads, in the words and with the line numbers that clients of the reference know.

export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/** Line numbers count from 0 here. The first line is not named. */
const at = (line: number, shown: number): string => (line === 0 ? '' : `line ${shown}: `)

/** The characters do not make words. */
export const scanError = (problem: string, line: number): YamlError => new YamlError(`yaml: ${at(line, line + 1)}${problem}`)

/** The words do not make a document; these errors name the line before, and clients have learnt to live with it. */
export const parseError = (problem: string, line: number): YamlError => new YamlError(`yaml: ${at(line, line)}${problem}`)

/** The document makes no value. */
export const valueError = (problem: string): YamlError => new YamlError(`yaml: ${problem}`)
