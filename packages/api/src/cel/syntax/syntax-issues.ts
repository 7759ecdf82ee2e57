// Where something stands in an expression, and how a problem is shown there: the line, and a mark below it.

export interface Issue {
  /** In UTF-16 units from the beginning. */
  readonly at: number
  readonly message: string
}

/** More than this many problems of one expression help nobody. */
const maxIssues = 100

/** All problems in the order in which they stand in the text, each with its line and a mark. */
export function renderIssues(text: string, issues: readonly Issue[]): string {
  const sorted = issues.map((issue, order) => ({ issue, order }))
  sorted.sort((a, b) => a.issue.at - b.issue.at || a.order - b.order)
  return sorted
    .slice(0, maxIssues)
    .map(({ issue }) => renderIssue(text, issue))
    .join('\n')
}

function renderIssue(text: string, { at, message }: Issue): string {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const lineEnd = text.indexOf('\n', lineStart)
  const line = text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd)
  const before = Array.from(line.slice(0, at - lineStart))
  const marked = Array.from(line.slice(at - lineStart))[0]
  const dots = before.map((letter) => (isWide(letter) ? '．' : '.')).join('')
  const mark = marked !== undefined && isWide(marked) ? '＾' : '^'
  return `ERROR: <input>:${lineNumber(text, lineStart)}:${before.length + 1}: ${message}\n | ${line.replaceAll('\t', ' ')}\n | ${dots}${mark}`
}

/** Letters beyond ASCII take a wide mark, as terminals show many of them twice as wide. */
const isWide = (letter: string): boolean => (letter.codePointAt(0) as number) > 127

function lineNumber(text: string, lineStart: number): number {
  let line = 1
  for (let i = 0; i < lineStart; i++) if (text.charCodeAt(i) === 10) line++
  return line
}
