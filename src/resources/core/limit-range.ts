// Limit ranges: bounds and defaults for what containers, pods and claims in a namespace may ask for.

import { defineResource } from '../../api/definition.js'
import { withMetadata } from '../../api/object.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { own } from '../../base/own.js'
import { validateLimits } from './limit-range-rules.js'
import { mapItems } from './pod-spec/all-containers.js'
import { withChanged } from './pod-spec/missing-members.js'
import { roundedResources } from './pod-spec/quantities.js'
import { type LimitRange, type LimitRangeItem, limitRange as schema } from './v1.schema.js'

type Amounts = { readonly [name: string]: string }

const amountFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

/** The amounts with those of `others` that they lack; the same amounts where they lack none. */
function completed(amounts: Amounts | undefined, others: Amounts | undefined): Amounts | undefined {
  for (const name in others) if (own(amounts, name) === undefined) return { ...others, ...amounts }
  return amounts
}

/** Containers get their limit from the maximum, and ask for their limit, or else for the minimum. */
function withDerivedDefaults(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item
  const limits = completed(item.default, item.max)
  const requests = completed(completed(item.defaultRequest, limits), item.min)
  if (limits === item.default && requests === item.defaultRequest) return item
  return { ...item, ...(limits === undefined ? {} : { default: limits }), ...(requests === undefined ? {} : { defaultRequest: requests }) }
}

const withRounding = (item: LimitRangeItem): LimitRangeItem =>
  amountFields.reduce((next, name) => withChanged(next, name, roundedResources), item)

const withItemDefaults = (items: readonly LimitRangeItem[]): readonly LimitRangeItem[] =>
  mapItems(items, (item) => withRounding(withDerivedDefaults(item)))

/** Another identifier than the given one, as unique as that: its first and last eight digits change places. */
const otherThan = (uid: string): string => `${uid.slice(-8)}${uid.slice(8, -8)}${uid.slice(0, 8)}`

/** Limits without a name are named by an identifier, which is not their own, as clients of old expect. */
const named = (range: LimitRange): LimitRange =>
  (range.metadata?.name ?? '') === '' && range.metadata?.uid !== undefined
    ? withMetadata(range, { name: otherThan(range.metadata.uid) })
    : range

export const limitRange = defineResource<LimitRange>({
  group: '',
  kind: 'LimitRange',
  resource: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (range) => withChanged(range, 'spec', (spec) => withChanged(spec, 'limits', withItemDefaults)),
  prepareCreate: named,
  validate: ({ spec }, { identity }) => validateLimits(spec?.limits, 'spec.limits', identity),
  checks: { update: ['metadata', 'own'] },
  createOnUpdate: true,
})
