// Priority levels: how much of the server the requests of some flow schemas may take, and what happens to those that do not fit.
// Objects are stored in the older version, which has another name for the shares; every rule here speaks of that form.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { statusAlone } from '../../api/old-metadata.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateFlowConditions } from './condition-rules.js'
import { validateLimited } from './limit-rules.js'
import { mandatoryPriorityLevels } from './mandatory.js'
import {
  type PriorityLevelConfiguration as Level,
  type PriorityLevelConfigurationSpec as LevelSpec,
  type LimitedPriorityLevelConfiguration as Limited,
  priorityLevelConfigurationSpec,
  priorityLevelConfiguration as schema,
} from './v1beta2.schema.js'
import {
  type PriorityLevelConfiguration as NewerLevel,
  type LimitedPriorityLevelConfiguration as NewerLimited,
  priorityLevelConfiguration as newerSchema,
} from './v1beta3.schema.js'

const exempt = 'exempt'

const toOlder = (level: NewerLevel): Level =>
  withLimited(level, ({ nominalConcurrencyShares, ...rest }: NewerLimited) => ({
    ...rest,
    ...(nominalConcurrencyShares === undefined ? {} : { assuredConcurrencyShares: nominalConcurrencyShares }),
  }))

const toNewer = (level: Level): NewerLevel =>
  withLimited(level, ({ assuredConcurrencyShares, ...rest }: Limited) => ({
    ...rest,
    ...(assuredConcurrencyShares === undefined ? {} : { nominalConcurrencyShares: assuredConcurrencyShares }),
  }))

/** A level of either version with its limits changed. */
function withLimited<From extends object, To extends object>(
  level: { readonly spec?: { readonly limited?: From } },
  change: (limited: From) => To,
): { readonly spec?: { readonly limited?: To } } {
  const { limited, ...spec } = level.spec ?? {}
  return limited === undefined ? (level as object) : { ...level, spec: { ...spec, limited: change(limited) } }
}

const withQueueDefaults = <L extends Limited & NewerLimited>(limited: L): L =>
  withChanged(limited as Limited, 'limitResponse', (response) =>
    withChanged(response, 'queuing', (queuing) => withMissing(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 })),
  ) as L

const defaults = (level: Level): Level =>
  withChanged(level, 'spec', (spec) =>
    withChanged(spec, 'limited', (limited) =>
      withQueueDefaults(withMissing(limited, { assuredConcurrencyShares: 30, lendablePercent: 0 })),
    ),
  )

const newerDefaults = (level: NewerLevel): NewerLevel =>
  withChanged(level, 'spec', (spec) =>
    withChanged(spec, 'limited', (limited) =>
      withQueueDefaults(withMissing(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 })),
    ),
  )

function validate({ metadata, spec = {}, status }: Level, { version }: RuleContext): readonly FieldError[] {
  const name = metadata?.name ?? ''
  const fixed = mandatoryPriorityLevels.get(name)
  return joined(
    validateSpec(spec, name, version === 'v1beta2' ? 'assuredConcurrencyShares' : 'nominalConcurrencyShares'),
    fixed === undefined || sameBySchema(priorityLevelConfigurationSpec, spec, fixed)
      ? noErrors
      : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)],
    validateFlowConditions(status?.conditions),
  )
}

function validateSpec({ type = '', limited }: LevelSpec, name: string, shares: string): readonly FieldError[] {
  return joined(
    (name === exempt) === (type === 'Exempt')
      ? noErrors
      : [invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")],
    validateLimits(type, limited, shares),
  )
}

function validateLimits(type: string, limited: Limited | undefined, shares: string): readonly FieldError[] {
  switch (type) {
    case 'Exempt':
      return limited === undefined ? noErrors : [forbidden('spec.limited', 'must be nil if the type is not Limited')]
    case 'Limited':
      return limited === undefined
        ? [required('spec.limited', 'must not be empty when type is Limited')]
        : validateLimited(limited, 'spec.limited', shares)
    default:
      return [notSupported('spec.type', type, ['Exempt', 'Limited'])]
  }
}

export const priorityLevelConfiguration = defineResource<Level>({
  group: { stem: 'flowcontrol.apiserver' },
  kind: 'PriorityLevelConfiguration',
  resource: 'prioritylevelconfigurations',
  namespaced: false,
  versions: [
    { name: 'v1beta3', schema: newerSchema, toStored: toOlder, fromStored: toNewer, defaults: newerDefaults },
    {
      name: 'v1beta2',
      schema,
      stored: true,
      deprecation: {
        deprecatedIn: '1.26',
        removedIn: '1.29',
        replacement: { group: { stem: 'flowcontrol.apiserver' }, version: 'v1beta3', kind: 'PriorityLevelConfiguration' },
      },
    },
  ],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (level) => asFirstGeneration({ ...level, status: {} }),
  prepareUpdate: (next, old) => {
    const kept = { ...next, status: old.status ?? {} }
    return sameBySchema(priorityLevelConfigurationSpec, next.spec ?? {}, old.spec ?? {}) ? kept : asNextGeneration(kept, old)
  },
  validate,
  checks: { update: ['metadata', 'own'] },
  resetFields: ['status'],
  subresources: [statusAlone(({ status }) => validateFlowConditions(status?.conditions))],
  table: {
    columns: [
      nameColumn,
      textColumn('Type', 'Whether requests are limited or exempt.'),
      textColumn('NominalConcurrencyShares', 'Its share of what runs at once.'),
      textColumn('Queues', 'How many queues there are.'),
      textColumn('HandSize', 'Among how many queues a flow may choose.'),
      textColumn('QueueLengthLimit', 'How many requests may wait in one queue.'),
      ageColumn,
    ],
    cells: ({ metadata, spec: { type = '', limited } = {} }, { now }) => {
      const queuing = limited?.limitResponse?.queuing
      const queues = (['queues', 'handSize', 'queueLengthLimit'] as const).map((name) =>
        queuing === undefined ? '<none>' : (queuing[name] ?? 0),
      )
      const shares = limited === undefined ? '<none>' : (limited.assuredConcurrencyShares ?? 0)
      return [metadata?.name ?? '', type, shares, ...queues, ageOf(metadata?.creationTimestamp, now)]
    },
  },
})
