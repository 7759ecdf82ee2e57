// Labels of nodes that have got other names: what is told to whoever still selects nodes by the old ones.

import type { Identity } from '../../api/identity.js'
import type { LabelSelectorObject } from '../../api/label-selector.js'
import type { NodeSelectorTerm } from './v1.schema.js'

/** What to say of a label, by its old name. */
export type OldLabels = ReadonlyMap<string, string>

const labelsByIdentity = new WeakMap<Identity, OldLabels>()

export function oldNodeLabels(identity: Identity): OldLabels {
  const known = labelsByIdentity.get(identity)
  if (known !== undefined) return known
  const renamed = (release: string, name: string): string => `deprecated since ${release}; use "${name}" instead`
  const messages = new Map([
    [identity.label('arch', 'beta'), renamed('v1.14', identity.label('arch'))],
    [identity.label('os', 'beta'), renamed('v1.14', identity.label('os'))],
    [identity.label('region', 'failure-domain.beta'), renamed('v1.17', identity.label('region', 'topology'))],
    [identity.label('zone', 'failure-domain.beta'), renamed('v1.17', identity.label('zone', 'topology'))],
    [identity.label('instance-type', 'beta'), renamed('v1.17', identity.label('instance-type', 'node'))],
  ])
  labelsByIdentity.set(identity, messages)
  return messages
}

export const told = (message: string | undefined, say: (message: string) => string): readonly string[] =>
  message === undefined ? [] : [say(message)]

/** What a list of terms asks of nodes. */
export const termsWarnings = (terms: readonly NodeSelectorTerm[] | undefined, field: string, labels: OldLabels): readonly string[] =>
  (terms ?? []).flatMap((term, i) => termWarnings(term, `${field}[${i}]`, labels))

/** What a selector of labels asks of nodes. */
export const selectorWarnings = (selector: LabelSelectorObject, field: string, labels: OldLabels): readonly string[] => [
  ...termWarnings(selector, field, labels),
  ...Object.keys(selector.matchLabels ?? {}).flatMap((key) =>
    told(labels.get(key), (message) => `${field}.matchLabels.${key}: ${message}`),
  ),
]

export const termWarnings = (
  { matchExpressions = [] }: Pick<NodeSelectorTerm, 'matchExpressions'>,
  field: string,
  labels: OldLabels,
): readonly string[] =>
  matchExpressions.flatMap(({ key = '' }, i) =>
    told(labels.get(key), (message) => `${field}.matchExpressions[${i}].key: ${key} is ${message}`),
  )
