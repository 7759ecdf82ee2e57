// Which requests belong to a flow schema: whose they are, and what they do to resources or to other paths.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkPresent, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { dnsLabel, dnsSubdomain } from '../../api/validation/text-rules.js'
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from './v1beta2.schema.js'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const subjectKinds = ['Group', 'ServiceAccount', 'User']

export function validateFlowRules(rules: PolicyRulesWithSubjects, field: string): readonly FieldError[] {
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

/** Each kind of subject, with the member that names it and what that member must say. */
const subjectRules: readonly {
  readonly kind: string
  readonly member: 'serviceAccount' | 'user' | 'group'
  readonly rule: (named: ServiceAccountSubject, field: string) => readonly FieldError[]
}[] = [
  { kind: 'ServiceAccount', member: 'serviceAccount', rule: validateAccount },
  { kind: 'User', member: 'user', rule: ({ name }, field) => checkPresent(name, `${field}.name`) },
  { kind: 'Group', member: 'group', rule: ({ name }, field) => checkPresent(name, `${field}.name`) },
]

function validateSubject(subject: Subject, field: string): readonly FieldError[] {
  const own = subjectRules.find(({ kind }) => kind === subject.kind)
  if (own === undefined) return [notSupported(`${field}.kind`, subject.kind ?? '', subjectKinds)]
  const named = subject[own.member]
  const at = `${field}.${own.member}`
  return joined(
    named === undefined ? [required(at, `${own.member} is required when subject kind is '${own.kind}'`)] : own.rule(named, at),
    ...subjectRules.map(({ kind, member }) =>
      member === own.member || subject[member] === undefined
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

/** A wildcard stands alone. */
const checkWildcard = (list: readonly string[], field: string, what: string): readonly FieldError[] =>
  list.length > 1 && list.includes('*') ? [invalid(field, list, `if '*' is present, must not specify other ${what}`)] : noErrors

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
  const paths =
    nonResourceURLs.length === 0
      ? [required(at, 'nonResourceURLs must contain at least one value')]
      : nonResourceURLs.includes('*')
        ? checkWildcard(nonResourceURLs, at, 'non-resource URLs')
        : checkEach(nonResourceURLs, at, (path, index) => checkText(path, index, pathProblems))
  return joined(checkVerbs(rule.verbs ?? [], `${field}.verbs`), paths)
}

/** One path, perhaps with everything below it; only the first problem is told. */
function pathProblems(path: string): readonly string[] {
  if (path === '') return ['must not be empty']
  if (path === '/') return []
  if (!path.startsWith('/')) return ['must start with slash']
  if (path.includes(' ')) return ['must not contain white-space']
  if (path.includes('//')) return ['must not contain double slash']
  const star = path.indexOf('*')
  return star < 0 || (star === path.length - 1 && path.endsWith('/*')) ? [] : ['wildcard can only do suffix matching']
}
