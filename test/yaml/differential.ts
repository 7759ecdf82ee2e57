// Two readers of YAML on one text: where both take it they must read the same, and where one refuses it the reason must be a known one.

import { isDeepStrictEqual } from 'node:util'
import { readYaml } from '../../src/codec/yaml/read-yaml.js'
import { YamlError } from '../../src/codec/yaml/yaml-error.js'
import { readByPackage } from './other-reader.js'

export type Verdict =
  | { readonly kind: 'same' | 'both refuse' }
  | { readonly kind: 'known'; readonly reason: string }
  | { readonly kind: 'different'; readonly ours: string; readonly theirs: string }

interface OurReading {
  readonly value?: unknown
  readonly problem?: string
}

function readByUs(text: string): OurReading {
  try {
    return { value: readYaml(text).value }
  } catch (thrown) {
    if (thrown instanceof YamlError) return { problem: thrown.message }
    throw thrown
  }
}

/** What one of the readers said of a text that they do not agree upon. */
interface Case {
  readonly text: string
  /** Our error, or empty. */
  readonly ours: string
  /** The codes of the package's errors. */
  readonly theirs: readonly string[]
  readonly hasMore: boolean
}

interface Reason {
  readonly reason: string
  readonly fits: (found: Case) => boolean
}

const oneOf = (codes: readonly string[], ...wanted: readonly string[]): boolean => codes.some((code) => wanted.includes(code))

/** Whether what we read of a text is what the package reads of some beginning of it. */
function isReadUpTo(text: string): boolean {
  const { value } = readByUs(text)
  for (let end = text.length - 1; end > 0; end--) {
    const beginning = readByPackage(text.slice(0, end))
    if (beginning.problems.length === 0 && isDeepStrictEqual(beginning.value, value)) return true
  }
  return value === null
}

/** Why the readers may disagree: each is YAML 1.1 as the reference reads it against 1.2, or a fault of the package. */
const reasons: readonly Reason[] = [
  { reason: 'a carriage return alone ends a line in 1.1', fits: ({ text }) => /\r(?!\n)/.test(text) },
  { reason: 'directives other than %YAML 1.1 are refused here', fits: ({ ours }) => /directive|incompatible YAML document/.test(ours) },
  {
    reason: 'what follows the first document is not looked at',
    fits: ({ text, ours, theirs, hasMore }) => hasMore || (ours === '' && theirs.length > 0 && isReadUpTo(text)),
  },
  {
    reason: 'tabs separate nothing at the beginning of a line',
    fits: ({ text, ours }) => text.includes('\t') && /tab character|start any token/.test(ours),
  },
  {
    reason: 'names of anchors are of letters, digits, _ and -',
    fits: ({ text }) => /[&*](?:[0-9A-Za-z_-]*[^0-9A-Za-z_\-\s,\]}]|\s|$)/.test(text),
  },
  {
    reason: 'in brackets a colon belongs to the word before it unless white space follows, and a question mark ends a word',
    fits: ({ text, ours }) =>
      /[:?]/.test(text) && /[[{]/.test(text) && /did not find expected (?:',' or '[}\]]'|node content)|start any token/.test(ours),
  },
  {
    reason: 'in brackets a colon before a comma or bracket is a part of the word',
    fits: ({ text }) => /[[{]/.test(text) && /:[,\]}]/.test(text),
  },
  { reason: 'in brackets a question mark needs no space behind it', fits: ({ text }) => /[[{][\s\S]*\?\S/.test(text) },
  { reason: 'a dash alone in brackets is a word', fits: ({ theirs }) => oneOf(theirs, 'BLOCK_IN_FLOW') },
  {
    reason: 'the package wants lines that go on in quotes or brackets to be indented',
    fits: ({ text, theirs }) =>
      (/["'][^"']*\n|[[{][^\]}]*\n/.test(text) &&
        oneOf(theirs, 'MISSING_CHAR', 'MULTILINE_IMPLICIT_KEY', 'TAB_AS_INDENT', 'UNEXPECTED_TOKEN')) ||
      (/["'[{][\s\S]*\n/.test(text) && oneOf(theirs, 'BAD_INDENT')),
  },
  {
    reason: 'a comment may follow a quote, a bracket or the sign of a block text at once',
    fits: ({ text, theirs }) => /["'\]}|>+0-9-]#/.test(text) && oneOf(theirs, 'MISSING_CHAR'),
  },
  {
    reason: 'the sign of a block text may stand at the beginning of a line, and a whole document that is one is indented',
    fits: ({ text }) => /(?:^|\n)[ \t]*[|>]/.test(text),
  },
  {
    reason: 'the package passes over what follows a key behind a question mark on its line',
    fits: ({ text, ours }) => /\? /.test(text) && /expected key|end of stream|document indicator/.test(ours),
  },
  {
    reason: 'the package takes a quote that is escaped at the end of a line for the end of the text',
    fits: ({ text, ours }) => ours !== '' && /(?:''|\\")[ \t]*(?:\n|$)/.test(text),
  },
  { reason: 'a key and its colon stand on one line', fits: ({ ours }) => /could not find expected ':'/.test(ours) },
  {
    reason: 'the package joins lines over an escaped line break with an empty line behind it',
    fits: ({ text }) => /\\\r?\n[ \t]*\r?\n/.test(text),
  },
  {
    reason: 'empty lines before a block text may have more spaces than it',
    fits: ({ text, theirs }) => /[|>][-+0-9]*[ \t]*\n[ \t]+\n/.test(text) && oneOf(theirs, 'MISSING_CHAR', 'BAD_INDENT'),
  },
  { reason: "1.1 has the escape \\'", fits: ({ theirs }) => oneOf(theirs, 'BAD_DQ_ESCAPE') },
]

export function compare(text: string): Verdict {
  const ours = readByUs(text)
  const theirs = readByPackage(text)
  const weRefuse = ours.problem !== undefined
  const theyRefuse = theirs.problems.length > 0
  if (weRefuse && theyRefuse) return { kind: 'both refuse' }
  if (!weRefuse && !theyRefuse && isDeepStrictEqual(ours.value, theirs.value)) return { kind: 'same' }
  if (!weRefuse && !theyRefuse && /[|>]/.test(text) && isDeepStrictEqual(trimmed(ours.value), trimmed(theirs.value)))
    return { kind: 'known', reason: 'white space at the end of a block text, and a block text at the end without a line break' }
  const reason = reasonOf({ text, ours: ours.problem ?? '', theirs: theirs.problems, hasMore: theirs.hasMore }, theirs.peculiar)
  if (reason !== undefined) return { kind: 'known', reason }
  return {
    kind: 'different',
    ours: ours.problem ?? show(ours.value),
    theirs: theyRefuse ? theirs.problems.join(' ') : show(theirs.value),
  }
}

function reasonOf(found: Case, peculiar: ReadonlySet<string>): string | undefined {
  for (const reason of peculiar) return reason
  return reasons.find(({ fits }) => fits(found))?.reason
}

/** The value with all of its texts trimmed. */
function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.map(trimmed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, trimmed(member)]))
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ?? 'undefined'
