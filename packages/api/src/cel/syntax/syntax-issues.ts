// Renders errors of CEL expressions like kube-apiserver: position, source line and a marker below it.

export interface Issue {
  readonly at: number
  readonly message: string
}

const maxIssues = 100

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
  const markedChar = Array.from(line.slice(at - lineStart))[0]
  const dots = before.map((char) => (isWide(char) ? '．' : '.')).join('')
  const marker = markedChar !== undefined && isWide(markedChar) ? '＾' : '^'
  return `ERROR: <input>:${lineNumber(text, lineStart)}:${before.length + 1}: ${message}\n | ${line.replaceAll('\t', ' ')}\n | ${dots}${marker}`
}

/** Non-ASCII characters get a full-width marker, as in kube-apiserver. */
const isWide = (char: string): boolean => (char.codePointAt(0) as number) > 127

function lineNumber(text: string, lineStart: number): number {
  let line = 1
  for (let i = 0; i < lineStart; i++) if (text.charCodeAt(i) === 10) line++
  return line
}
