// Flow schemas and priority levels of a fresh server. The mandatory ones are always as they are here; the suggested ones are brought up to
// date unless somebody took them over, which their annotation says.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { withMetadata } from '../../api/object.js'
import { authenticatedGroup } from '../../api/user.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mandatoryFlowSchemas } from '../../resources/flowcontrol-apiserver/mandatory.js'
import type { PriorityLevelConfigurationSpec as OlderLevel } from '../../resources/flowcontrol-apiserver/v1beta2.schema.js'
import type {
  FlowSchemaCondition,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from '../../resources/flowcontrol-apiserver/v1beta3.schema.js'
import { timeOf } from '../../schema/scalars.js'
import type { Wanted } from './wanted.js'
import { spell, spellAll } from './words.js'

const group = { stem: 'flowcontrol.apiserver' }
const version = 'v1beta3'
const producer = 'api-priority-and-fairness-config-producer-v1'
/** Who says what became of schemas. */
export const consumer = 'api-priority-and-fairness-config-consumer-v1'

interface FlowObject extends ApiObject {
  readonly spec?: object
}

export function flowObjects(identity: Identity, now: number): readonly Wanted[] {
  const schemas = [...mandatoryFlowSchemas, ...suggestedSchemas(identity)]
  return [
    ...levels.map(([name, spec]) => wanted(identity, 'prioritylevelconfigurations', { name, spec, isMandatory: mandatory.has(name) })),
    ...schemas.map(([name, spec]) => ({
      ...wanted(identity, 'flowschemas', { name, spec, isMandatory: mandatory.has(name) }),
      status: {
        value: {
          conditions: [{ ...danglingCondition(spec.priorityLevelConfiguration?.name ?? '', true), lastTransitionTime: timeOf(now) }],
        },
        fieldManager: consumer,
        fields: conditionFields,
      },
    })),
  ]
}

const mandatory: ReadonlySet<string> = new Set(['exempt', 'catch-all'])

interface Template {
  readonly name: string
  readonly spec: object
  readonly isMandatory: boolean
}

function wanted(identity: Identity, resource: string, { name, spec, isMandatory }: Template): Wanted<FlowObject> {
  const annotation = identity.label('autoupdate-spec', 'apf')
  return {
    group,
    version,
    resource,
    fieldManager: producer,
    object: { metadata: { name, annotations: { [annotation]: 'true' } }, spec } as FlowObject,
    reconcile: (stored, fresh) => {
      const { annotations = {}, generation } = stored.metadata ?? {}
      // Without a word about it, one that nobody has changed yet is still ours.
      const isOurs = isMandatory || annotations[annotation] === 'true' || (annotations[annotation] !== 'false' && generation === 1)
      const isCurrent = annotations[annotation] === 'true' && sameValue(stored.spec, fresh.spec)
      if (!isOurs || isCurrent) return stored
      return withMetadata({ ...stored, spec: fresh.spec ?? {} }, { annotations: { ...annotations, [annotation]: 'true' } })
    },
  }
}

/** Whether the priority level that a schema names is missing; without the time. */
export const danglingCondition = (level: string, exists: boolean): Dangling => ({
  type: 'Dangling',
  status: exists ? 'False' : 'True',
  reason: exists ? 'Found' : 'NotFound',
  message: `the priority level ${JSON.stringify(level)} ${exists ? 'exists' : 'does not exist'}`,
})

type Dangling = Required<Pick<FlowSchemaCondition, 'type' | 'status' | 'reason' | 'message'>>

const conditionFields = {
  'f:status': {
    'f:conditions': {
      'k:{"type":"Dangling"}': {
        '.': {},
        'f:lastTransitionTime': {},
        'f:message': {},
        'f:reason': {},
        'f:status': {},
        'f:type': {},
      },
    },
  },
}

const queued = (shares: number, lendablePercent: number, queuing: NonNullable<Queuing>): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Queue', queuing }, lendablePercent },
})

type Queuing = NonNullable<NonNullable<OlderLevel['limited']>['limitResponse']>['queuing']

const queues = (count: number, handSize: number): NonNullable<Queuing> => ({ queues: count, handSize, queueLengthLimit: 50 })

const levels: readonly (readonly [string, PriorityLevelConfigurationSpec])[] = [
  ['exempt', { type: 'Exempt' }],
  ['catch-all', { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
  ['global-default', queued(20, 50, queues(128, 6))],
  ['leader-election', queued(10, 0, queues(16, 4))],
  ['node-high', queued(40, 25, queues(64, 6))],
  ['system', queued(30, 33, queues(64, 6))],
  ['workload-high', queued(40, 50, queues(128, 6))],
  ['workload-low', queued(100, 90, queues(128, 6))],
]

const unauthenticatedGroup = 'system:unauthenticated'

/** In the order in which requests try them. */
function suggestedSchemas(identity: Identity): readonly (readonly [string, FlowSchemaSpec])[] {
  const user = (name: string): Subject => ({ kind: 'User', user: { name: `system:${identity.prefixed(name)}` } })
  const members = (name: string): Subject => ({ kind: 'Group', group: { name } })
  const account = (name: string): Subject => ({ kind: 'ServiceAccount', serviceAccount: { namespace: identity.prefixed('system'), name } })
  const may = (verbs: string, groups: string, resources: string): ResourcePolicyRule => ({
    verbs: verbs.split(' '),
    apiGroups: spellAll(identity, groups),
    resources: resources.split(' '),
    namespaces: ['*'],
  })
  const elections = 'get create update'
  const everything = (...subjects: readonly Subject[]): PolicyRulesWithSubjects => ({
    subjects,
    resourceRules: [{ ...may('*', '*', '*'), clusterScope: true }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  })
  const named = (name: string): string => spell(identity, name)
  return [
    [
      'probes',
      {
        priorityLevelConfiguration: { name: 'exempt' },
        matchingPrecedence: 2,
        rules: [
          {
            subjects: [members(unauthenticatedGroup), members(authenticatedGroup)],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
          },
        ],
      },
    ],
    [
      'system-leader-election',
      flow('leader-election', 100, 'ByUser', {
        subjects: [user('controller-manager'), user('scheduler'), account('*')],
        resourceRules: [may(elections, '{coordination}', 'leases')],
      }),
    ],
    [
      'endpoint-controller',
      flow('workload-high', 150, 'ByUser', {
        subjects: [user('controller-manager'), account('endpoint-controller'), account('endpointslicemirroring-controller')],
        resourceRules: [may(elections, 'core', 'endpoints')],
      }),
    ],
    [
      'workload-leader-election',
      flow('leader-election', 200, 'ByUser', {
        subjects: [account('*')],
        resourceRules: [may(elections, 'core', 'endpoints configmaps'), may(elections, '{coordination}', 'leases')],
      }),
    ],
    [
      'system-node-high',
      flow('node-high', 400, 'ByUser', {
        subjects: [members('system:nodes')],
        resourceRules: [{ ...may('*', 'core', 'nodes nodes/status'), clusterScope: true }, may('*', '{coordination}', 'leases')],
      }),
    ],
    ['system-nodes', flow('system', 500, 'ByUser', everything(members('system:nodes')))],
    [named('%-controller-manager'), flow('workload-high', 800, 'ByNamespace', everything(user('controller-manager')))],
    [named('%-scheduler'), flow('workload-high', 800, 'ByNamespace', everything(user('scheduler')))],
    [named('%-system-service-accounts'), flow('workload-high', 900, 'ByNamespace', everything(account('*')))],
    ['service-accounts', flow('workload-low', 9000, 'ByUser', everything(members('system:serviceaccounts')))],
    ['global-default', flow('global-default', 9900, 'ByUser', everything(members(unauthenticatedGroup), members(authenticatedGroup)))],
  ]
}

const flow = (level: string, matchingPrecedence: number, by: string, rule: PolicyRulesWithSubjects): FlowSchemaSpec => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence,
  distinguisherMethod: { type: by },
  rules: [rule],
})
