// `auth reconcile`: creates RBAC roles and bindings from files, or adds missing rules, subjects, labels and annotations to existing ones.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { fileFlags, readManifestObjects } from '../../objects/object-arguments.js'
import { parseDryRun, printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'
import { inOrder } from '../../output/documents.js'
import type { AccessRule } from '../../output/rbac-rules.js'

export const command = defineCommand({
  usage: 'auth reconcile -f FILE [flags]',
  flags: {
    ...fileFlags,
    ...writeFlags,
    'remove-extra-permissions': { kind: 'switch', help: 'remove permissions that the files do not have' },
    'remove-extra-subjects': { kind: 'switch', help: 'remove subjects that the files do not have' },
  },
  takesNoArguments: true,
  run: async (context) => {
    const { flags, io } = context
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    const dryRun = parseDryRun(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(await readManifestObjects(flags, context), io, async ({ resource, collection, name, object }) => {
      const isBinding = /RoleBinding$/.test(resource.kind)
      if (!isBinding && !/Role$/.test(resource.kind)) throw new CommandError(`${resource.kind} "${name}" is neither a role nor a binding`)
      const live = await collection.find(name)
      if (live === undefined) {
        const created = await writeUnlessDryRun(flags, object, (options) => collection.create(object, options))
        results.push({ resource, name, operation: 'reconciled: created', object: created })
        return
      }
      const autoupdate = Object.entries(live.metadata?.annotations ?? {}).find(([key]) => key.endsWith('/autoupdate'))?.[1]
      if (isBinding && !isSame(live['roleRef'], object['roleRef'])) {
        if (autoupdate === 'false') {
          results.push({ resource, name, operation: 'skipped: it binds another role, and autoupdate is false', object: live })
          return
        }
        if (dryRun === 'none') await collection.delete(name)
        const created = dryRun === 'none' ? await writeUnlessDryRun(flags, object, (options) => collection.create(object, options)) : object
        results.push({ resource, name, operation: 'reconciled: recreated, because it bound another role', object: created })
        return
      }
      const changes = isBinding ? subjectChanges(live, object, flags) : roleChanges(live, object, flags)
      const metadata = { ...live.metadata, ...withAdded(live, object, 'labels'), ...withAdded(live, object, 'annotations') }
      const next = { ...live, metadata, ...changes.members }
      if (isSame(next, live)) {
        results.push({ resource, name, operation: 'unchanged', object: live })
        return
      }
      if (autoupdate === 'false') {
        results.push({ resource, name, operation: 'skipped: autoupdate is false', object: live })
        return
      }
      const created = await writeUnlessDryRun(flags, next, (options) => collection.update(next, options))
      results.push({ resource, name, operation: `reconciled: ${changes.added} added, ${changes.removed} removed`, object: created })
    })
    printResults(results, flags, io)
    return code
  },
})

interface Changes {
  readonly members: object
  readonly added: number
  readonly removed: number
}

function listChanges(
  present: readonly unknown[],
  wanted: readonly unknown[],
  removes: boolean,
): Changes & { readonly next: readonly unknown[] } {
  const missing = wanted.filter((item) => !present.some((other) => isSame(item, other)))
  const extra = removes ? present.filter((item) => !wanted.some((other) => isSame(item, other))) : []
  const next = [...present.filter((item) => !extra.includes(item)), ...missing]
  return { members: {}, next, added: missing.length, removed: extra.length }
}

function subjectChanges(live: DynamicObject, object: DynamicObject, flags: { readonly 'remove-extra-subjects': boolean }): Changes {
  const changes = listChanges(listOf(live, 'subjects'), listOf(object, 'subjects'), flags['remove-extra-subjects'])
  return { ...changes, members: { subjects: changes.next } }
}

/** For aggregated cluster roles the selectors are compared: the server writes their rules. */
function roleChanges(live: DynamicObject, object: DynamicObject, flags: { readonly 'remove-extra-permissions': boolean }): Changes {
  const removes = flags['remove-extra-permissions']
  const selectors = selectorsOf(object)
  if (selectors !== undefined) {
    const changes = listChanges(selectorsOf(live) ?? [], selectors, removes)
    return { ...changes, members: { aggregationRule: { clusterRoleSelectors: changes.next } } }
  }
  const [present, wanted] = [listOf(live, 'rules') as readonly AccessRule[], listOf(object, 'rules') as readonly AccessRule[]]
  const missing = uncovered(present, wanted)
  const extra = removes ? uncovered(wanted, present) : []
  if (missing.length === 0 && extra.length === 0) return { members: {}, added: 0, removed: 0 }
  return { members: { rules: removes ? wanted : [...present, ...missing] }, added: missing.length, removed: extra.length }
}

const selectorsOf = (object: DynamicObject): readonly unknown[] | undefined =>
  (object['aggregationRule'] as { readonly clusterRoleSelectors?: readonly unknown[] } | undefined)?.clusterRoleSelectors

function withAdded(live: DynamicObject, object: DynamicObject, member: 'labels' | 'annotations'): object {
  const added = object.metadata?.[member]
  return added === undefined ? {} : { [member]: { ...live.metadata?.[member], ...added } }
}

const listOf = (object: DynamicObject, member: string): readonly unknown[] =>
  Array.isArray(object[member]) ? (object[member] as readonly unknown[]) : []
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b))

/** Returns the parts of `wanted` that `granted` does not allow. A rule without any allowed part is returned unsplit. */
export function uncovered(granted: readonly AccessRule[], wanted: readonly AccessRule[]): readonly AccessRule[] {
  return wanted.flatMap((rule) => {
    const parts = partsOf(rule)
    const missing = parts.filter((part) => !granted.some((grantedRule) => allows(grantedRule, part)))
    return missing.length === parts.length && parts.length > 0 ? [rule] : missing
  })
}

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
  if (!hasOrWildcard(rule.verbs, verb)) return false
  const [path] = nonResourceURLs
  if (path !== undefined)
    return (rule.nonResourceURLs ?? []).some((url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))))
  const [group = ''] = apiGroups
  const [resource = ''] = resources
  const [, subresource] = resource.split('/')
  const isResource =
    hasOrWildcard(rule.resources, resource) || (subresource !== undefined && (rule.resources ?? []).includes(`*/${subresource}`))
  const ruleNames = rule.resourceNames ?? []
  const [name] = resourceNames
  return hasOrWildcard(rule.apiGroups, group) && isResource && (ruleNames.length === 0 || (name !== undefined && ruleNames.includes(name)))
}

const hasOrWildcard = (texts: readonly string[] | undefined, text: string): boolean =>
  texts?.includes('*') === true || texts?.includes(text) === true
