// A text with any number of YAML documents, as people keep their manifests, to the values in it; each with the line where it begins.

import { readYaml, type YamlDocument } from './read-yaml.js'
import { YamlError } from './yaml-error.js'

export interface PlacedDocument extends YamlDocument {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

/** Documents without anything in them are left out. Throws a YamlError that says in which document it is. */
export function readDocuments(text: string): readonly PlacedDocument[] {
  const documents: PlacedDocument[] = []
  for (const { line, part } of partsOf(text)) {
    try {
      const document = readYaml(part)
      if (document.value !== null) documents.push({ ...document, line, text: part })
    } catch (thrown) {
      if (!(thrown instanceof YamlError) || line === 1) throw thrown
      throw new YamlError(`in the document that begins in line ${line}: ${thrown.message}`)
    }
  }
  return documents
}

/** Cut at lines that begin with `---`: within a block scalar such a line is indented. */
function* partsOf(text: string): Generator<{ readonly line: number; readonly part: string }> {
  let line = 1
  let start = 0
  let startLine = 1
  for (let at = 0; at <= text.length; line++) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    if (isSeparator(text, at, end) && at > start) {
      yield { line: startLine, part: text.slice(start, at) }
      start = at
      startLine = line
    }
    at = end + 1
  }
  yield { line: startLine, part: text.slice(start) }
}

function isSeparator(text: string, at: number, end: number): boolean {
  if (!text.startsWith('---', at)) return false
  const next = at + 3 >= end ? '' : text[at + 3]
  return next === '' || next === ' ' || next === '\t' || next === '\r'
}
