// Compares our YAML parser with the `yaml` package on one document: equal values, or a known reason for a difference.

import { isDeepStrictEqual } from 'node:util'
import { readYaml } from '../../packages/api/src/codec/yaml/read-yaml.js'
import { YamlError } from '../../packages/api/src/codec/yaml/yaml-error.js'
import { readByPackage } from './yaml-package-reader.js'

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

/** Results of both parsers for a document on which they differ. */
interface Case {
  readonly text: string
  /** Our error message, or empty. */
  readonly ours: string
  /** Error codes of the package. */
  readonly theirs: readonly string[]
  readonly hasMore: boolean
}

interface Reason {
  readonly reason: string
  readonly fits: (found: Case) => boolean
}

const oneOf = (codes: readonly string[], ...wanted: readonly string[]): boolean => codes.some((code) => wanted.includes(code))

/** True if our value equals what the package reads from a prefix. */
function isReadUpTo(text: string): boolean {
  const { value } = readByUs(text)
  for (let end = text.length - 1; end > 0; end--) {
    const beginning = readByPackage(text.slice(0, end))
    if (beginning.problems.length === 0 && isDeepStrictEqual(beginning.value, value)) return true
  }
  return value === null
}

/** Known reasons for differences: YAML 1.1 as in kube-apiserver against 1.2, or a bug of the package. */
const reasons: readonly Reason[] = [
  { reason: 'a carriage return alone ends a line in 1.1', fits: ({ text }) => /\r(?!\n)/.test(text) },
  { reason: 'our parser rejects directives other than %YAML 1.1', fits: ({ ours }) => /directive|incompatible YAML document/.test(ours) },
  {
    reason: 'only the first document is read',
    fits: ({ text, ours, theirs, hasMore }) => hasMore || (ours === '' && theirs.length > 0 && isReadUpTo(text)),
  },
  {
    reason: 'a tab is not white space at the beginning of a line',
    fits: ({ text, ours }) => text.includes('\t') && /tab character|start any token/.test(ours),
  },
  {
    reason: 'anchor names consist of letters, digits, _ and -',
    fits: ({ text }) => /[&*](?:[0-9A-Za-z_-]*[^0-9A-Za-z_\-\s,\]}]|\s|$)/.test(text),
  },
  {
    reason: 'in flow collections a colon is part of a plain scalar unless white space follows, and a question mark ends it',
    fits: ({ text, ours }) =>
      /[:?]/.test(text) && /[[{]/.test(text) && /did not find expected (?:',' or '[}\]]'|node content)|start any token/.test(ours),
  },
  {
    reason: 'in flow collections a colon before a comma or bracket is part of the plain scalar',
    fits: ({ text }) => /[[{]/.test(text) && /:[,\]}]/.test(text),
  },
  {
    reason: 'in flow collections an explicit key needs no space after its question mark',
    fits: ({ text }) => /[[{][\s\S]*\?\S/.test(text),
  },
  { reason: 'a single dash in a flow collection is a plain scalar', fits: ({ theirs }) => oneOf(theirs, 'BLOCK_IN_FLOW') },
  {
    reason: 'the package requires indented continuation lines in quotes and flow collections',
    fits: ({ text, theirs }) =>
      (/["'][^"']*\n|[[{][^\]}]*\n/.test(text) &&
        oneOf(theirs, 'MISSING_CHAR', 'MULTILINE_IMPLICIT_KEY', 'TAB_AS_INDENT', 'UNEXPECTED_TOKEN')) ||
      (/["'[{][\s\S]*\n/.test(text) && oneOf(theirs, 'BAD_INDENT')),
  },
  {
    reason: 'a comment needs no space after a quote, a bracket or a block scalar indicator',
    fits: ({ text, theirs }) => /["'\]}|>+0-9-]#/.test(text) && oneOf(theirs, 'MISSING_CHAR'),
  },
  {
    reason: 'a block scalar indicator may begin a line, and a document that is one block scalar is indented',
    fits: ({ text }) => /(?:^|\n)[ \t]*[|>]/.test(text),
  },
  {
    reason: 'the package ignores the rest of the line after an explicit key',
    fits: ({ text, ours }) => /\? /.test(text) && /expected key|end of stream|document indicator/.test(ours),
  },
  {
    reason: 'the package ends a scalar at an escaped quote at the end of a line',
    fits: ({ text, ours }) => ours !== '' && /(?:''|\\")[ \t]*(?:\n|$)/.test(text),
  },
  { reason: 'a key and its colon must be on one line', fits: ({ ours }) => /could not find expected ':'/.test(ours) },
  {
    reason: 'the package joins lines across an escaped line break that an empty line follows',
    fits: ({ text }) => /\\\r?\n[ \t]*\r?\n/.test(text),
  },
  {
    reason: 'empty lines before a block scalar may be indented more than its content',
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
  const reason = reasonOf({ text, ours: ours.problem ?? '', theirs: theirs.problems, hasMore: theirs.hasMore }, theirs.knownDifferences)
  if (reason !== undefined) return { kind: 'known', reason }
  return {
    kind: 'different',
    ours: ours.problem ?? show(ours.value),
    theirs: theyRefuse ? theirs.problems.join(' ') : show(theirs.value),
  }
}

function reasonOf(found: Case, knownDifferences: ReadonlySet<string>): string | undefined {
  for (const reason of knownDifferences) return reason
  return reasons.find(({ fits }) => fits(found))?.reason
}

/** The value with all strings trimmed. */
function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.map(trimmed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, trimmed(member)]))
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ?? 'undefined'
