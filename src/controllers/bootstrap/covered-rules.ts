// Whether the rules of a role allow all that another rule allows: every single thing it names must be allowed by some rule.

import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'

export const covers = (rules: readonly PolicyRule[], rule: PolicyRule): boolean =>
  rules.some((own) => coversWhole(own, rule)) || singles(rule).every((single) => rules.some((own) => coversWhole(own, single)))

/** One rule for each verb, group, resource, name and path. */
function singles({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))
  return verbs.flatMap((verb) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => names.map((name) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name }))),
    ),
    ...nonResourceURLs.map((path) => ({ verbs: [verb], nonResourceURLs: [path] })),
  ])
}

function coversWhole(own: PolicyRule, rule: PolicyRule): boolean {
  const names = own.resourceNames ?? []
  return (
    hasAll(own.verbs, rule.verbs) &&
    hasAll(own.apiGroups, rule.apiGroups) &&
    (rule.resources ?? []).every((resource) => hasResource(own.resources ?? [], resource)) &&
    (names.length === 0 || ((rule.resourceNames ?? []).length > 0 && (rule.resourceNames ?? []).every((name) => names.includes(name)))) &&
    (rule.nonResourceURLs ?? []).every((path) => (own.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, path)))
  )
}

const hasAll = (own: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  own.includes('*') || wanted.every((word) => own.includes(word))

/** `*` is everything, and `*` before a slash that part of every resource. */
function hasResource(own: readonly string[], resource: string): boolean {
  if (own.includes('*') || own.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && own.includes(`*${resource.slice(slash)}`)
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)))
