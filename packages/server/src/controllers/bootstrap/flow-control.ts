// Default flow schemas and priority levels: mandatory ones are always reset, suggested ones if their autoupdate annotation is true,
// or if it is missing and the object was never changed.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { mandatoryFlowSchemas } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/mandatory-flow-schemas.js'
import type { FlowSchemaCondition, FlowSchemaSpec, Subject } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { type FlowSchemaTemplate, suggestedFlowSchemas } from './data/flow-schemas.js'
import { priorityLevels } from './data/priority-levels.js'
import { expandName, expandNames } from './data/role-template.js'
import type { WantedObject } from './ensure-objects.js'

const group = { stem: 'flowcontrol.apiserver' }
const version = 'v1beta3'
const specFieldManager = 'api-priority-and-fairness-config-producer-v1'
export const statusFieldManager = 'api-priority-and-fairness-config-consumer-v1'

interface FlowObject extends ApiObject {
  readonly spec?: object
}

export function flowControlDefaults(identity: Identity, now: number): readonly WantedObject[] {
  const suggested = suggestedFlowSchemas.map((template) => [expandName(identity, template.name), specOf(identity, template)] as const)
  const schemas = [...mandatoryFlowSchemas, ...suggested]
  return [
    ...priorityLevels.map(([name, spec]) =>
      wantedObject(identity, 'prioritylevelconfigurations', { name, spec, isMandatory: mandatoryNames.has(name) }),
    ),
    ...schemas.map(([name, spec]) => ({
      ...wantedObject(identity, 'flowschemas', { name, spec, isMandatory: mandatoryNames.has(name) }),
      status: {
        value: {
          conditions: [{ ...danglingCondition(spec.priorityLevelConfiguration?.name ?? '', true), lastTransitionTime: timeOf(now) }],
        },
        fieldManager: statusFieldManager,
        fields: conditionFields,
      },
    })),
  ]
}

const mandatoryNames: ReadonlySet<string> = new Set(['exempt', 'catch-all'])

interface FlowTemplate {
  readonly name: string
  readonly spec: object
  readonly isMandatory: boolean
}

function wantedObject(identity: Identity, resource: string, { name, spec, isMandatory }: FlowTemplate): WantedObject<FlowObject> {
  const annotation = identity.label('autoupdate-spec', 'apf')
  return {
    group,
    version,
    resource,
    fieldManager: specFieldManager,
    object: { metadata: { name, annotations: { [annotation]: 'true' } }, spec } as FlowObject,
    reconcile: (stored, desired) => {
      const { annotations = {}, generation } = stored.metadata ?? {}
      // Without the annotation, an object of generation 1 was never changed.
      const isManaged = isMandatory || annotations[annotation] === 'true' || (annotations[annotation] !== 'false' && generation === 1)
      const isCurrent = annotations[annotation] === 'true' && sameValue(stored.spec, desired.spec)
      if (!isManaged || isCurrent) return stored
      return withMetadata({ ...stored, spec: desired.spec ?? {} }, { annotations: { ...annotations, [annotation]: 'true' } })
    },
  }
}

export const danglingCondition = (level: string, exists: boolean): DanglingCondition => ({
  type: 'Dangling',
  status: exists ? 'False' : 'True',
  reason: exists ? 'Found' : 'NotFound',
  message: `the priority level ${JSON.stringify(level)} ${exists ? 'exists' : 'does not exist'}`,
})

type DanglingCondition = Required<Pick<FlowSchemaCondition, 'type' | 'status' | 'reason' | 'message'>>

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

function specOf(identity: Identity, template: FlowSchemaTemplate): FlowSchemaSpec {
  const { level, precedence, distinguisher, subjects, resourceRules, pathRules } = template
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules: [
      {
        subjects: subjects.split(' ').map((subject) => subjectOf(identity, subject)),
        ...(resourceRules === undefined
          ? {}
          : {
              resourceRules: resourceRules.map(({ verbs, groups, resources, ...scope }) => ({
                verbs: verbs.split(' '),
                apiGroups: expandNames(identity, groups),
                resources: resources.split(' '),
                namespaces: ['*'],
                ...scope,
              })),
            }),
        ...(pathRules === undefined
          ? {}
          : { nonResourceRules: pathRules.map(({ verbs, paths }) => ({ verbs: verbs.split(' '), nonResourceURLs: paths.split(' ') })) }),
      },
    ],
  }
}

function subjectOf(identity: Identity, text: string): Subject {
  const colon = text.indexOf(':')
  const [kind, name] = [text.slice(0, colon), expandName(identity, text.slice(colon + 1))]
  if (kind === 'User') return { kind, user: { name } }
  if (kind === 'Group') return { kind, group: { name } }
  return { kind, serviceAccount: { namespace: identity.prefixed('system'), name } }
}
