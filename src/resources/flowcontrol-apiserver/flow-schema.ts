// Flow schemas: which requests belong together, and at which priority level they wait and run.

import { defineResource } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { statusAlone } from '../../api/old-metadata.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateFlowConditions } from './condition-rules.js'
import { validateFlowRules } from './flow-rules.js'
import { mandatoryFlowSchemas } from './mandatory.js'
import { type FlowSchema, type FlowSchemaSpec, flowSchemaSpec, flowSchema as schema } from './v1beta2.schema.js'
import { flowSchema as newerSchema } from './v1beta3.schema.js'

const exempt = 'exempt'
const lastPrecedence = 10000
const methods = ['ByNamespace', 'ByUser']

const defaults = (flow: FlowSchema): FlowSchema =>
  withChanged(withMissing(flow, { spec: {} }), 'spec', (spec) => withMissing(spec, { matchingPrecedence: 1000 }))

function validate({ metadata, spec = {}, status }: FlowSchema): readonly FieldError[] {
  const name = metadata?.name ?? ''
  const fixed = mandatoryFlowSchemas.get(name)
  return joined(
    validateSpec(spec, name),
    fixed === undefined || sameBySchema(flowSchemaSpec, spec, fixed)
      ? noErrors
      : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)],
    validateFlowConditions(status?.conditions),
  )
}

function validateSpec(spec: FlowSchemaSpec, name: string): readonly FieldError[] {
  const method = spec.distinguisherMethod
  return joined(
    validatePrecedence(spec.matchingPrecedence ?? 0, name),
    method === undefined || methods.includes(method.type ?? '')
      ? noErrors
      : [notSupported('spec.distinguisherMethod.type', method.type ?? '', methods)],
    validateLevelName(spec.priorityLevelConfiguration?.name ?? ''),
    checkEach(spec.rules, 'spec.rules', validateFlowRules),
  )
}

function validatePrecedence(precedence: number, name: string): readonly FieldError[] {
  const wrong = (problem: string): readonly FieldError[] => [invalid('spec.matchingPrecedence', precedence, problem)]
  if (precedence <= 0) return wrong('must be a positive value')
  if (precedence > lastPrecedence) return wrong(`must not be greater than ${lastPrecedence}`)
  return precedence === 1 && name !== exempt ? wrong("only the schema named 'exempt' may have matchingPrecedence 1") : noErrors
}

const validateLevelName = (name: string): readonly FieldError[] =>
  name === ''
    ? [required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
    : checkText(name, 'spec.priorityLevelConfiguration.name', dnsSubdomain)

/** Whether the priority level is missing, as the controller found out. */
const describeDangling = ({ status }: FlowSchema): string =>
  (status?.conditions ?? []).find(({ type }) => type === 'Dangling')?.status ?? '?'

export const flowSchema = defineResource<FlowSchema>({
  group: { stem: 'flowcontrol.apiserver' },
  kind: 'FlowSchema',
  resource: 'flowschemas',
  namespaced: false,
  versions: [
    { name: 'v1beta3', schema: newerSchema },
    {
      name: 'v1beta2',
      schema,
      stored: true,
      deprecation: {
        deprecatedIn: '1.26',
        removedIn: '1.29',
        replacement: { group: { stem: 'flowcontrol.apiserver' }, version: 'v1beta3', kind: 'FlowSchema' },
      },
    },
  ],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (flow) => asFirstGeneration({ ...flow, status: {} }),
  prepareUpdate: (next, old) => {
    const kept = { ...next, status: old.status ?? {} }
    return sameBySchema(flowSchemaSpec, next.spec ?? {}, old.spec ?? {}) ? kept : asNextGeneration(kept, old)
  },
  validate,
  checks: { update: ['metadata', 'own'] },
  resetFields: ['status'],
  subresources: [statusAlone(({ status }) => validateFlowConditions(status?.conditions))],
  table: {
    columns: [
      nameColumn,
      textColumn('PriorityLevel', 'The priority level of its requests.'),
      textColumn('MatchingPrecedence', 'The lower, the earlier it is tried.'),
      textColumn('DistinguisherMethod', 'By what requests are told apart into flows.'),
      ageColumn,
      textColumn('MissingPL', 'Whether the priority level does not exist.'),
    ],
    cells: (flow, { now }) => [
      flow.metadata?.name ?? '',
      flow.spec?.priorityLevelConfiguration?.name || '<none>',
      flow.spec?.matchingPrecedence ?? 0,
      flow.spec?.distinguisherMethod?.type ?? '<none>',
      ageOf(flow.metadata?.creationTimestamp, now),
      describeDangling(flow),
    ],
    // As requests try them; an order of names comes first in the list itself, and stays for equals.
    order: (a, b) => (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0),
  },
})
