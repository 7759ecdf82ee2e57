// FlowSchema: validation of subjects and rules, matching precedence, printer columns.

import { statusOnlySubresource } from '../../api/definition/keep-metadata.js'
import { type Deprecation, defineResource } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkPresent, checkText, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { dnsLabel, dnsSubdomain } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import { mandatoryFlowSchemas } from './mandatory-flow-schemas.js'
import {
  type FlowSchema,
  type FlowSchemaCondition,
  type FlowSchemaSpec,
  flowSchemaSpec,
  type NonResourcePolicyRule,
  type PolicyRulesWithSubjects,
  type ResourcePolicyRule,
  type ServiceAccountSubject,
  type Subject,
  flowSchema as schema,
} from './v1beta2.schema.js'
import { flowSchema as newerSchema } from './v1beta3.schema.js'

export function validateFlowConditions(conditions: readonly FlowSchemaCondition[] | undefined): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(conditions, 'status.conditions', ({ type = '' }, field) => {
    const errors: FieldError[] = seen.has(type) ? [duplicate(`${field}.type`, type)] : []
    seen.add(type)
    return type === '' ? [...errors, required(`${field}.type`, 'must not be empty')] : errors
  })
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const subjectKinds = ['Group', 'ServiceAccount', 'User']

function validateFlowRules(rules: PolicyRulesWithSubjects, field: string): readonly FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules
  return joined(
    subjects.length === 0
      ? [required(`${field}.subjects`, 'subjects must contain at least one value')]
      : checkEach(subjects, `${field}.subjects`, validateSubject),
    resourceRules.length + nonResourceRules.length === 0
      ? [required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : noErrors,
    checkEach(resourceRules, `${field}.resourceRules`, validateResourceRule),
    checkEach(nonResourceRules, `${field}.nonResourceRules`, validatePathRule),
  )
}

const subjectRules: readonly {
  readonly kind: string
  readonly member: 'serviceAccount' | 'user' | 'group'
  readonly rule: (value: ServiceAccountSubject, field: string) => readonly FieldError[]
}[] = [
  { kind: 'ServiceAccount', member: 'serviceAccount', rule: validateAccount },
  { kind: 'User', member: 'user', rule: ({ name }, field) => checkPresent(name, `${field}.name`) },
  { kind: 'Group', member: 'group', rule: ({ name }, field) => checkPresent(name, `${field}.name`) },
]

function validateSubject(subject: Subject, field: string): readonly FieldError[] {
  const subjectRule = subjectRules.find(({ kind }) => kind === subject.kind)
  if (subjectRule === undefined) return [notSupported(`${field}.kind`, subject.kind ?? '', subjectKinds)]
  const value = subject[subjectRule.member]
  const at = `${field}.${subjectRule.member}`
  return joined(
    value === undefined
      ? [required(at, `${subjectRule.member} is required when subject kind is '${subjectRule.kind}'`)]
      : subjectRule.rule(value, at),
    ...subjectRules.map(({ kind, member }) =>
      member === subjectRule.member || subject[member] === undefined
        ? noErrors
        : [forbidden(`${field}.${member}`, `${member} is forbidden when subject kind is not '${kind}'`)],
    ),
  )
}

function validateAccount({ name = '', namespace = '' }: ServiceAccountSubject, field: string): readonly FieldError[] {
  return joined(
    name === '' ? [required(`${field}.name`)] : name === '*' ? noErrors : checkText(name, `${field}.name`, dnsSubdomain),
    namespace === ''
      ? [required(`${field}.namespace`, 'must specify namespace for service account')]
      : checkText(namespace, `${field}.namespace`, dnsLabel),
  )
}

const checkWildcard = (list: readonly string[], field: string, noun: string): readonly FieldError[] =>
  list.length > 1 && list.includes('*') ? [invalid(field, list, `if '*' is present, must not specify other ${noun}`)] : noErrors

function checkVerbs(list: readonly string[], field: string): readonly FieldError[] {
  if (list.length === 0) return [required(field, 'verbs must contain at least one value')]
  if (list.includes('*')) return checkWildcard(list, field, 'verbs')
  return list.every((verb) => verbs.includes(verb)) ? noErrors : [notSupported(field, list, verbs)]
}

function validateResourceRule(rule: ResourcePolicyRule, field: string): readonly FieldError[] {
  const { apiGroups = [], resources = [], namespaces = [] } = rule
  return joined(
    checkVerbs(rule.verbs ?? [], `${field}.verbs`),
    apiGroups.length === 0
      ? [required(`${field}.apiGroups`, 'resource rules must supply at least one api group')]
      : checkWildcard(apiGroups, `${field}.apiGroups`, 'api groups'),
    resources.length === 0
      ? [required(`${field}.resources`, 'resource rules must supply at least one resource')]
      : checkWildcard(resources, `${field}.resources`, 'resources'),
    checkNamespaces(namespaces, `${field}.namespaces`, rule.clusterScope === true),
  )
}

function checkNamespaces(list: readonly string[], field: string, isOptional: boolean): readonly FieldError[] {
  if (list.length === 0 && !isOptional) {
    return [required(field, 'resource rules that are not cluster scoped must supply at least one namespace')]
  }
  if (list.includes('*')) return checkWildcard(list, field, 'namespaces')
  return checkEach(list, field, (namespace, at) =>
    dnsLabel(namespace).map((problem) => invalid(at, namespace, `each member of this list must be '*' or a DNS-1123 label; ${problem}`)),
  )
}

function validatePathRule({ nonResourceURLs = [], ...rule }: NonResourcePolicyRule, field: string): readonly FieldError[] {
  const at = `${field}.nonResourceURLs`
  const pathErrors =
    nonResourceURLs.length === 0
      ? [required(at, 'nonResourceURLs must contain at least one value')]
      : nonResourceURLs.includes('*')
        ? checkWildcard(nonResourceURLs, at, 'non-resource URLs')
        : checkEach(nonResourceURLs, at, (path, pathAt) => checkText(path, pathAt, pathProblems))
  return joined(checkVerbs(rule.verbs ?? [], `${field}.verbs`), pathErrors)
}

function pathProblems(path: string): readonly string[] {
  if (path === '') return ['must not be empty']
  if (path === '/') return []
  if (!path.startsWith('/')) return ['must start with slash']
  if (path.includes(' ')) return ['must not contain white-space']
  if (path.includes('//')) return ['must not contain double slash']
  const star = path.indexOf('*')
  return star < 0 || (star === path.length - 1 && path.endsWith('/*')) ? [] : ['wildcard can only do suffix matching']
}

const exempt = 'exempt'
const maxPrecedence = 10000
const distinguisherMethods = ['ByNamespace', 'ByUser']

const defaults = (flow: FlowSchema): FlowSchema =>
  withChanged(withMissing(flow, { spec: {} }), 'spec', (spec) => withMissing(spec, { matchingPrecedence: 1000 }))

function validate({ metadata, spec = {}, status }: FlowSchema): readonly FieldError[] {
  const name = metadata?.name ?? ''
  const mandatorySpec = mandatoryFlowSchemas.get(name)
  return joined(
    validateSpec(spec, name),
    mandatorySpec === undefined || sameBySchema(flowSchemaSpec, spec, mandatorySpec)
      ? noErrors
      : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)],
    validateFlowConditions(status?.conditions),
  )
}

function validateSpec(spec: FlowSchemaSpec, name: string): readonly FieldError[] {
  const method = spec.distinguisherMethod
  return joined(
    validatePrecedence(spec.matchingPrecedence ?? 0, name),
    method === undefined || distinguisherMethods.includes(method.type ?? '')
      ? noErrors
      : [notSupported('spec.distinguisherMethod.type', method.type ?? '', distinguisherMethods)],
    validateLevelName(spec.priorityLevelConfiguration?.name ?? ''),
    checkEach(spec.rules, 'spec.rules', validateFlowRules),
  )
}

function validatePrecedence(precedence: number, name: string): readonly FieldError[] {
  const precedenceErrors = (problem: string): readonly FieldError[] => [invalid('spec.matchingPrecedence', precedence, problem)]
  if (precedence <= 0) return precedenceErrors('must be a positive value')
  if (precedence > maxPrecedence) return precedenceErrors(`must not be greater than ${maxPrecedence}`)
  return precedence === 1 && name !== exempt ? precedenceErrors("only the schema named 'exempt' may have matchingPrecedence 1") : noErrors
}

const validateLevelName = (name: string): readonly FieldError[] =>
  name === ''
    ? [required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
    : checkText(name, 'spec.priorityLevelConfiguration.name', dnsSubdomain)

const describeDangling = ({ status }: FlowSchema): string =>
  (status?.conditions ?? []).find(({ type }) => type === 'Dangling')?.status ?? '?'

export const deprecatedFor = (kind: string): Deprecation => ({
  deprecatedIn: '1.26',
  removedIn: '1.29',
  replacement: { group: { stem: 'flowcontrol.apiserver' }, version: 'v1beta3', kind },
})

export const flowSchema = defineResource<FlowSchema>({
  group: { stem: 'flowcontrol.apiserver' },
  kind: 'FlowSchema',
  resource: 'flowschemas',
  namespaced: false,
  versions: [
    { name: 'v1beta3', schema: newerSchema },
    { name: 'v1beta2', schema, stored: true, deprecation: deprecatedFor('FlowSchema') },
  ],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: withFirstGeneration,
  prepareUpdate: (next, old) => withKeptStatus(next, old, flowSchemaSpec),
  validate,
  checks: { update: ['metadata', 'validate'] },
  resetFields: ['status'],
  subresources: [statusOnlySubresource(({ status }) => validateFlowConditions(status?.conditions))],
  table: {
    ...tableOf<FlowSchema>(
      nameColumn,
      textColumn('PriorityLevel', 'The priority level of its requests.', ({ spec }) => spec?.priorityLevelConfiguration?.name || '<none>'),
      textColumn('MatchingPrecedence', 'The lower, the earlier it is tried.', ({ spec }) => spec?.matchingPrecedence ?? 0),
      textColumn('DistinguisherMethod', 'What separates requests into flows.', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>'),
      ageColumn,
      textColumn('MissingPL', 'Whether the priority level does not exist.', describeDangling),
    ),
    // Rows in matching order; rows of equal precedence keep their order by name.
    order: (a, b) => (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0),
  },
})
