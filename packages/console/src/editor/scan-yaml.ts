// The path of the field on each line of a YAML text that may be incomplete, in block style: for errors, completion and explanations.

import type { Text } from '@codemirror/state'

export type Path = readonly (string | number)[]

export interface ScannedLine {
  readonly path: Path
  /** Column of the key or value, after dashes. */
  readonly column: number
  readonly key: string | undefined
  /** Text after the key. */
  readonly value: string
}

interface Level {
  readonly indent: number
  readonly isItem: boolean
  step: string | number
}

/** Maximum length of a text that is scanned; lines beyond have no path. */
const maxCharacters = 300_000
/** Maximum length of a key. */
const maxKeyCharacters = 300
const blockScalar = /^[|>][-+\d]*(?:\s+#.*)?$/
const keyPattern = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#&*!|>'"%@`{}[\],?:][^:#]*):(?:\s|$)/

export function scanYaml(text: string): readonly ScannedLine[] {
  const levels: Level[] = []
  /** Path of the last line with a key or item. Comments and blocks share it: copies for many lines in deep lists would fill the memory. */
  let path: Path = []
  let blockIndent: number | undefined
  return text
    .slice(0, maxCharacters)
    .split('\n')
    .map((line) => {
      const indent = line.length - line.trimStart().length
      const isEmpty = line.trim() === ''
      if (blockIndent !== undefined && (isEmpty || indent > blockIndent)) return { path, column: indent, key: undefined, value: line }
      blockIndent = undefined
      if (isEmpty) return { path: pathOf(levelsBefore(levels, line.length)), column: line.length, key: undefined, value: '' }
      let column = indent
      let rest = line.slice(indent)
      if (rest.startsWith('#') || rest.startsWith('---')) return { path, column, key: undefined, value: '' }
      while (rest === '-' || rest.startsWith('- ')) {
        while (levels.length > 0 && !endsAt(levels.at(-1) as Level, column, true)) levels.pop()
        const top = levels.at(-1)
        if (top?.isItem === true && top.indent === column) top.step = Number(top.step) + 1
        else levels.push({ indent: column, isItem: true, step: 0 })
        const next = rest.slice(1).trimStart()
        column += rest.length - next.length
        rest = next
      }
      const found = keyPattern.exec(rest.slice(0, maxKeyCharacters))
      if (found === null) {
        const inside = levelsBefore(levels, column)
        if (blockScalar.test(rest)) blockIndent = inside.at(-1)?.indent
        path = pathOf(inside)
        return { path, column, key: undefined, value: rest }
      }
      while (levels.length > 0 && (levels.at(-1) as Level).indent >= column) levels.pop()
      const [whole, written = ''] = found
      const key = unquote(written.trim())
      levels.push({ indent: column, isItem: false, step: key })
      const value = rest.slice(whole.length).trim()
      if (blockScalar.test(value)) blockIndent = column
      path = pathOf(levels)
      return { path, column, key, value }
    })
}

/** The line of a position; undefined if it is after the limit. */
export function scannedLine(doc: Text, position: number): ScannedLine | undefined {
  const { to, number } = doc.lineAt(position)
  return scanYaml(doc.sliceString(0, Math.min(to, maxCharacters)))[number - 1]
}

/** True for the list that the item continues, and for the parent of a new list. */
const endsAt = ({ indent, isItem }: Level, column: number, isDash: boolean): boolean =>
  indent < column || (indent === column && (isItem || isDash))

/** Levels around a column; their indents ascend. */
function levelsBefore(levels: readonly Level[], column: number): readonly Level[] {
  const end = levels.findIndex(({ indent }) => indent >= column)
  return end < 0 ? levels : levels.slice(0, end)
}

const pathOf = (levels: readonly Level[]): Path => levels.map(({ step }) => step)

function unquote(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'")
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}

/** Longer paths, whose steps are long keys, are cut: a search for a missing `]` takes quadratic time. */
const maxPathCharacters = 2000

/** The steps of a field in an error of the server: `spec.containers[0].image`, `data[a.b]`. */
export function readFieldPath(field: string): Path {
  return [...field.slice(0, maxPathCharacters).matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, name, inner]) => {
    const step = name ?? inner ?? ''
    return inner !== undefined && /^\d+$/.test(inner) ? Number(inner) : step.replaceAll(/^"|"$/g, '')
  })
}

/** Index of the first line of a field, or of the nearest field around it. */
export function lineOfField(lines: readonly ScannedLine[], path: Path): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const start = path.slice(0, length)
    const index = lines.findIndex((line) => startsWith(line.path, start))
    if (index >= 0) return index
  }
  return undefined
}

const startsWith = (path: Path, start: Path): boolean =>
  path.length >= start.length && start.every((step, i) => String(step) === String(path[i]))
