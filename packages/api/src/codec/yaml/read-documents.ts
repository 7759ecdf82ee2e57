// Reads the documents of a YAML manifest, except empty ones, each with the line where it begins.

import { readYaml, type YamlDocument } from './read-yaml.js'
import { YamlError } from './yaml-error.js'

interface LocatedDocument extends YamlDocument {
  readonly line: number
  readonly text: string
}

/** Skips empty and null documents. If a document begins after line 1, its YamlError names that line. */
export function readDocuments(text: string): readonly LocatedDocument[] {
  const documents: LocatedDocument[] = []
  for (const { line, documentText } of splitDocuments(text)) {
    try {
      const document = readYaml(documentText)
      if (document.value !== null) documents.push({ ...document, line, text: documentText })
    } catch (thrown) {
      if (!(thrown instanceof YamlError) || line === 1) throw thrown
      throw new YamlError(`in the document at line ${line}: ${thrown.message}`)
    }
  }
  return documents
}

/** Splits at lines that begin with `---` followed by white space or nothing; in block scalars such lines are indented. */
function* splitDocuments(text: string): Generator<{ readonly line: number; readonly documentText: string }> {
  let line = 1
  let start = 0
  let startLine = 1
  for (let at = 0; at <= text.length; line++) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    if (isSeparator(text, at, end) && at > start) {
      yield { line: startLine, documentText: text.slice(start, at) }
      start = at
      startLine = line
    }
    at = end + 1
  }
  yield { line: startLine, documentText: text.slice(start) }
}

function isSeparator(text: string, at: number, end: number): boolean {
  if (!text.startsWith('---', at)) return false
  const next = at + 3 >= end ? '' : text[at + 3]
  return next === '' || next === ' ' || next === '\t' || next === '\r'
}
