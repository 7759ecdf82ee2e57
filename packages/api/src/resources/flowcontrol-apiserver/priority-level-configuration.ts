// PriorityLevelConfiguration: defaults, limits, queues. Stored as v1beta2, where nominalConcurrencyShares is assuredConcurrencyShares.

import { statusOnlySubresource } from '../../api/definition/keep-metadata.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import { deprecatedFor, validateFlowConditions } from './flow-schema.js'
import { mandatoryPriorityLevels } from './mandatory-flow-schemas.js'
import {
  type PriorityLevelConfiguration as Level,
  type PriorityLevelConfigurationSpec as LevelSpec,
  type LimitedPriorityLevelConfiguration as Limited,
  type LimitedPriorityLevelConfiguration,
  type LimitResponse,
  priorityLevelConfigurationSpec,
  type QueuingConfiguration,
  priorityLevelConfiguration as schema,
} from './v1beta2.schema.js'
import {
  type PriorityLevelConfiguration as NewerLevel,
  type LimitedPriorityLevelConfiguration as NewerLimited,
  priorityLevelConfiguration as newerSchema,
} from './v1beta3.schema.js'

const maxQueues = 10_000_000
/** Shuffle sharding takes the queues of a flow from one hash of 60 bits. */
const hashBits = 60

/** `sharesField`: name of the field of the concurrency shares in the requested version. */
function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string, sharesField: string): readonly FieldError[] {
  const { assuredConcurrencyShares = 0, limitResponse = {}, lendablePercent = 0, borrowingLimitPercent = 0 } = limited
  return joined(
    checkAboveZero(assuredConcurrencyShares, `${field}.${sharesField}`),
    validateResponse(limitResponse, `${field}.limitResponse`),
    lendablePercent >= 0 && lendablePercent <= 100
      ? noErrors
      : [invalid(`${field}.lendablePercent`, lendablePercent, 'must be between 0 and 100, inclusive')],
    borrowingLimitPercent >= 0
      ? noErrors
      : [invalid(`${field}.borrowingLimitPercent`, borrowingLimitPercent, 'if specified, must be a non-negative integer')],
  )
}

const checkAboveZero = (value: number, field: string): readonly FieldError[] =>
  value > 0 ? noErrors : [invalid(field, value, 'must be positive')]

function validateResponse({ type = '', queuing }: LimitResponse, field: string): readonly FieldError[] {
  switch (type) {
    case 'Reject':
      return queuing === undefined ? noErrors : [forbidden(`${field}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
    case 'Queue':
      return queuing === undefined
        ? [required(`${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
        : validateQueuing(queuing, `${field}.queuing`)
    default:
      return [notSupported(`${field}.type`, type, ['Queue', 'Reject'])]
  }
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, field: string): readonly FieldError[] {
  return joined(
    checkAboveZero(queueLengthLimit, `${field}.queueLengthLimit`),
    queues > maxQueues
      ? [invalid(`${field}.queues`, queues, `must not be greater than ${maxQueues}`)]
      : checkAboveZero(queues, `${field}.queues`),
    validateHandSize(handSize, queues, `${field}.handSize`),
  )
}

function validateHandSize(handSize: number, queues: number, field: string): readonly FieldError[] {
  if (handSize <= 0) return checkAboveZero(handSize, field)
  if (handSize > queues) return [invalid(field, handSize, `should not be greater than queues (${queues})`)]
  const neededBits = Math.ceil(Math.log2(queues) * handSize)
  const problem = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBits}`
  return neededBits > hashBits ? [invalid(field, handSize, problem)] : noErrors
}

const exempt = 'exempt'

const toV1beta2 = (level: NewerLevel): Level =>
  withLimited(level, ({ nominalConcurrencyShares, ...rest }: NewerLimited) => ({
    ...rest,
    ...(nominalConcurrencyShares === undefined ? {} : { assuredConcurrencyShares: nominalConcurrencyShares }),
  }))

const toV1beta3 = (level: Level): NewerLevel =>
  withLimited(level, ({ assuredConcurrencyShares, ...rest }: Limited) => ({
    ...rest,
    ...(assuredConcurrencyShares === undefined ? {} : { nominalConcurrencyShares: assuredConcurrencyShares }),
  }))

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

const v1beta3Defaults = (level: NewerLevel): NewerLevel =>
  withChanged(level, 'spec', (spec) =>
    withChanged(spec, 'limited', (limited) =>
      withQueueDefaults(withMissing(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 })),
    ),
  )

function validate({ metadata, spec = {}, status }: Level, { version }: RuleContext): readonly FieldError[] {
  const name = metadata?.name ?? ''
  const mandatorySpec = mandatoryPriorityLevels.get(name)
  return joined(
    validateSpec(spec, name, version === 'v1beta2' ? 'assuredConcurrencyShares' : 'nominalConcurrencyShares'),
    mandatorySpec === undefined || sameBySchema(priorityLevelConfigurationSpec, spec, mandatorySpec)
      ? noErrors
      : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)],
    validateFlowConditions(status?.conditions),
  )
}

function validateSpec({ type = '', limited }: LevelSpec, name: string, sharesField: string): readonly FieldError[] {
  return joined(
    (name === exempt) === (type === 'Exempt')
      ? noErrors
      : [invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")],
    validateLimits(type, limited, sharesField),
  )
}

function validateLimits(type: string, limited: Limited | undefined, sharesField: string): readonly FieldError[] {
  switch (type) {
    case 'Exempt':
      return limited === undefined ? noErrors : [forbidden('spec.limited', 'must be nil if the type is not Limited')]
    case 'Limited':
      return limited === undefined
        ? [required('spec.limited', 'must not be empty when type is Limited')]
        : validateLimited(limited, 'spec.limited', sharesField)
    default:
      return [notSupported('spec.type', type, ['Exempt', 'Limited'])]
  }
}

const queuingCell =
  (name: 'queues' | 'handSize' | 'queueLengthLimit') =>
  ({ spec }: Level): unknown => {
    const queuing = spec?.limited?.limitResponse?.queuing
    return queuing === undefined ? '<none>' : (queuing[name] ?? 0)
  }

export const priorityLevelConfiguration = defineResource<Level>({
  group: { stem: 'flowcontrol.apiserver' },
  kind: 'PriorityLevelConfiguration',
  resource: 'prioritylevelconfigurations',
  namespaced: false,
  versions: [
    { name: 'v1beta3', schema: newerSchema, toStored: toV1beta2, fromStored: toV1beta3, defaults: v1beta3Defaults },
    { name: 'v1beta2', schema, stored: true, deprecation: deprecatedFor('PriorityLevelConfiguration') },
  ],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: withFirstGeneration,
  prepareUpdate: (next, old) => withKeptStatus(next, old, priorityLevelConfigurationSpec),
  validate,
  checks: { update: ['metadata', 'validate'] },
  resetFields: ['status'],
  subresources: [statusOnlySubresource(({ status }) => validateFlowConditions(status?.conditions))],
  table: tableOf<Level>(
    nameColumn,
    textColumn('Type', 'Whether requests are limited or exempt.', ({ spec }) => spec?.type ?? ''),
    textColumn('NominalConcurrencyShares', 'Share of the concurrency limit.', ({ spec }) =>
      spec?.limited === undefined ? '<none>' : (spec.limited.assuredConcurrencyShares ?? 0),
    ),
    textColumn('Queues', 'Number of queues.', queuingCell('queues')),
    textColumn('HandSize', 'Number of queues that a flow may use.', queuingCell('handSize')),
    textColumn('QueueLengthLimit', 'Maximum number of requests per queue.', queuingCell('queueLengthLimit')),
    ageColumn,
  ),
})
