// What of some rules other rules do not allow already.

import type { AccessRule } from './rule-rows.js'

/** The parts of `wanted` that `given` does not allow, as rules; a rule of which nothing is allowed stays whole. */
export function uncovered(given: readonly AccessRule[], wanted: readonly AccessRule[]): readonly AccessRule[] {
  return wanted.flatMap((rule) => {
    const parts = partsOf(rule)
    const missing = parts.filter((part) => !given.some((one) => allows(one, part)))
    return missing.length === parts.length && parts.length > 0 ? [rule] : missing
  })
}

/** One verb on one resource, with one name where there are names, or on one path. */
function partsOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: AccessRule): readonly AccessRule[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))
  return verbs.flatMap((verb) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => names.map((name) => ({ apiGroups: [group], resources: [resource], ...name, verbs: [verb] }))),
    ),
    ...nonResourceURLs.map((path) => ({ nonResourceURLs: [path], verbs: [verb] })),
  ])
}

function allows(
  rule: AccessRule,
  { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: AccessRule,
): boolean {
  const [verb = ''] = verbs
  if (!has(rule.verbs, verb)) return false
  const [path] = nonResourceURLs
  if (path !== undefined)
    return (rule.nonResourceURLs ?? []).some((one) => one === path || (one.endsWith('*') && path.startsWith(one.slice(0, -1))))
  const [group = ''] = apiGroups
  const [resource = ''] = resources
  const [, subresource] = resource.split('/')
  const isResource = has(rule.resources, resource) || (subresource !== undefined && (rule.resources ?? []).includes(`*/${subresource}`))
  const ownNames = rule.resourceNames ?? []
  const [name] = resourceNames
  return has(rule.apiGroups, group) && isResource && (ownNames.length === 0 || (name !== undefined && ownNames.includes(name)))
}

const has = (texts: readonly string[] | undefined, text: string): boolean => texts?.includes('*') === true || texts?.includes(text) === true
