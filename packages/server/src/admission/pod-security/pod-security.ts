// PodSecurity plugin: checks pods and templates against the Pod Security Standard of their namespace; rejects, audits or warns.

import { forbidden, invalid } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { everything } from '../../objects/list/selection.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { PodSecuritySettings } from '../config/pod-security-config.js'
import { baselineChecks } from './baseline-checks.js'
import {
  allowsAll,
  describePolicy,
  isSamePolicy,
  isStricter,
  type LevelVersion,
  minorOf,
  nameOf,
  type ParsedPolicy,
  type Policy,
  policyOf,
} from './namespace-policy.js'
import { type Check, type CheckedPod, type CheckPod, isSignificantChange, podOf, templateCollections, type Violation } from './pod-check.js'
import { restrictedChecks } from './restricted-checks.js'

interface PodSecurityParts {
  readonly store: ObjectStore
  readonly namespaces: Resource
  readonly pods: Resource
  readonly settings: PodSecuritySettings
}

const maxCachedPolicies = 10_000
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

export function podSecurity(parts: PodSecurityParts): Plugin {
  const { store, namespaces, settings } = parts
  const policyCache = new Map<string, { readonly revision: number; readonly parsed: ParsedPolicy }>()

  function policyIn(request: AdmissionRequest): ParsedPolicy {
    const stored = store.readCached({ resource: namespaces, namespace: '', name: request.namespace })
    const before = policyCache.get(request.namespace)
    if (stored !== undefined && before?.revision === stored.revision) return before.parsed
    const parsed = policyOf(stored?.labels(), settings.defaults, request.identity)
    if (policyCache.size >= maxCachedPolicies) policyCache.clear()
    if (stored !== undefined) policyCache.set(request.namespace, { revision: stored.revision, parsed })
    return parsed
  }

  function checkPod(request: AdmissionRequest): void {
    if (ignoredSubresources.has(request.subresource) || isExempt(request, settings)) return
    const parsed = policyIn(request)
    if (parsed.errors.length === 0 && allowsAll(parsed.policy)) {
      annotate(request, 'enforce-policy', nameOf(parsed.policy.enforce))
      return
    }
    const pod = podOf(request.object)
    if (pod === undefined || (request.operation === 'UPDATE' && !isSignificantChange(pod, podOf(request.old), request.identity))) return
    evaluate(request, { ...pod, parsed, shouldEnforce: true })
  }

  function checkTemplate(request: AdmissionRequest): void {
    if (request.subresource !== '' || isExempt(request, settings)) return
    const parsed = policyIn(request)
    const { audit, warn } = parsed.policy
    if (parsed.errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return
    const pod = podOf(request.object)
    if (pod !== undefined) evaluate(request, { ...pod, parsed, shouldEnforce: false })
  }

  function evaluate(request: AdmissionRequest, { annotations, spec, parsed, shouldEnforce }: Evaluation): void {
    if (settings.exemptions.runtimeClasses.has(spec.runtimeClassName ?? '')) {
      annotate(request, 'exempt', 'runtimeClass')
      return
    }
    const { policy, errors } = parsed
    if (errors.length > 0) annotate(request, 'error', `Failed to parse policy: ${errors.map((error) => error.message).join(', ')}`)
    const pod = { annotations, spec, identity: request.identity }
    const violations = shouldEnforce ? evaluatePod(policy.enforce, pod) : []
    if (shouldEnforce) annotate(request, 'enforce-policy', nameOf(policy.enforce))
    const audited = shouldEnforce && isSamePolicy(policy.audit, policy.enforce) ? violations : evaluatePod(policy.audit, pod)
    if (audited.length > 0) annotate(request, 'audit-violations', violationText(policy.audit, audited, true))
    if (violations.length > 0) throw forbidden(request.resource.subject, request.name, violationText(policy.enforce, violations))
    const warned = shouldEnforce && isSamePolicy(policy.warn, policy.enforce) ? violations : evaluatePod(policy.warn, pod)
    if (warned.length > 0) request.call.warn(violationText(policy.warn, warned, true))
  }

  async function checkNamespace(request: AdmissionRequest): Promise<void> {
    if (request.subresource !== '') return
    const next = policyOf(request.object?.metadata?.labels, settings.defaults, request.identity)
    const old = request.old === undefined ? undefined : policyOf(request.old.metadata?.labels, settings.defaults, request.identity)
    const hasNewErrors = old === undefined || JSON.stringify(old.errors) !== JSON.stringify(next.errors)
    if (next.errors.length > 0 && hasNewErrors) throw invalid(request.resource.invalidSubject, request.name, next.errors)
    if (old !== undefined && !isTightened(next.policy, old.policy)) return
    if (settings.exemptions.namespaces.has(request.name)) {
      if (!allowsAll(next.policy) && !isSameInAllModes(next.policy, settings.defaults)) request.call.warn(ignoredText(request, next.policy))
      return
    }
    if (old !== undefined) await checkExistingPods(parts, request, next.policy.enforce)
  }

  return {
    name: 'PodSecurity',
    collections: ['pods', 'namespaces', ...templateCollections],
    validate: async (request) => {
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return
      const { collection } = request.resource
      if (collection === 'namespaces') await checkNamespace(request)
      else if (collection === 'pods') checkPod(request)
      else checkTemplate(request)
    },
  }
}

interface Evaluation {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
  readonly parsed: ParsedPolicy
  readonly shouldEnforce: boolean
}

const annotate = (request: AdmissionRequest, key: string, value: string): void =>
  request.annotate(request.identity.label(key, 'pod-security'), value)

function isExempt(request: AdmissionRequest, { exemptions }: PodSecuritySettings): boolean {
  const why = exemptions.namespaces.has(request.namespace)
    ? 'namespace'
    : exemptions.usernames.has(request.call.user.name)
      ? 'user'
      : undefined
  if (why !== undefined) annotate(request, 'exempt', why)
  return why !== undefined
}

function isTightened({ enforce: next }: Policy, { enforce: old }: Policy): boolean {
  if (isSamePolicy(next, old) || next.level === 'privileged') return false
  return next.version !== old.version || isStricter(next.level, old.level)
}

const isSameInAllModes = (one: Policy, other: Policy): boolean =>
  isSamePolicy(one.enforce, other.enforce) && isSamePolicy(one.audit, other.audit) && isSamePolicy(one.warn, other.warn)

function ignoredText({ name, object, identity }: AdmissionRequest, policy: Policy): string {
  const text = describePolicy(policy, object?.metadata?.labels ?? {}, identity)
  return `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${text}) will be ignored`
}

/** Limits of the check of existing pods when a namespace gets a stricter label. */
const maxCheckedPods = 3000
const maxCheckMs = 1000

interface ExistingPodsParts {
  readonly store: ObjectStore
  readonly pods: Resource
  readonly settings: PodSecuritySettings
}

interface ViolatingPods {
  readonly pod: string
  readonly others: number
}

async function checkExistingPods(parts: ExistingPodsParts, request: AdmissionRequest, enforce: LevelVersion): Promise<void> {
  const namespace = request.name
  const total = parts.store.count(parts.pods, namespace)
  if (total === 0) return
  const { found, checked } = await evaluateExistingPods(parts, request, enforce)
  const { warn } = request.call
  if (checked < total) warn(`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`)
  if (found.size === 0) return
  warn(`existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level "${nameOf(enforce)}"`)
  const lines = Array.from(found, ([reasons, { pod, others }]) => `${pod}${othersText(others)}: ${reasons}`)
  for (const line of lines.sort(compareText)) warn(line)
}

const othersText = (others: number): string => (others === 0 ? '' : ` (and ${others} other pod${others === 1 ? '' : 's'})`)

interface ExistingPodsResult {
  readonly found: ReadonlyMap<string, ViolatingPods>
  readonly checked: number
}

async function evaluateExistingPods(
  { store, pods, settings }: ExistingPodsParts,
  request: AdmissionRequest,
  enforce: LevelVersion,
): Promise<ExistingPodsResult> {
  const found = new Map<string, ViolatingPods>()
  const deadline = performance.now() + maxCheckMs
  let checked = 0
  for (const stored of store.readInSteps({ resource: pods, namespace: request.name, selection: everything })) {
    await turnBudget.yieldIfSpent()
    if (stored === undefined) continue
    if (checked >= maxCheckedPods || performance.now() > deadline) break
    checked += 1
    const object = stored.decode(pods)
    const pod = podOf(object)
    if (pod === undefined || settings.exemptions.runtimeClasses.has(pod.spec.runtimeClassName ?? '')) continue
    const violations = evaluatePod(enforce, { ...pod, identity: request.identity })
    if (violations.length === 0) continue
    const reasons = reasonsOf(violations)
    const before = found.get(reasons)
    found.set(reasons, { pod: before?.pod ?? object.metadata?.name ?? '', others: before === undefined ? 0 : before.others + 1 })
  }
  return { found, checked }
}

/** Newest minor version that changed a check. */
const newestMinor = 25

const checksByPolicy = new Map<string, readonly CheckPod[]>()

export function evaluatePod(policy: LevelVersion, pod: CheckedPod): readonly Violation[] {
  if (policy.level === 'privileged') return []
  const minor = Math.min(minorOf(policy.version), newestMinor)
  const checks = getOrInsert(checksByPolicy, `${policy.level} ${minor}`, () => checksOf(policy.level, minor))
  const violations: Violation[] = []
  for (const check of checks) {
    const violation = check(pod)
    if (violation !== undefined) violations.push(violation)
  }
  return violations
}

function checksOf(level: string, minor: number): readonly CheckPod[] {
  const restricted = level === 'restricted' ? restrictedChecks.filter((check) => checkForMinor(check, minor) !== undefined) : []
  const replaced = new Set(restricted.map(({ replaces }) => replaces))
  const baseline = baselineChecks.filter(({ id }) => !replaced.has(id))
  return [...baseline, ...restricted].flatMap((check) => checkForMinor(check, minor) ?? [])
}

const checkForMinor = ({ versions }: Check, minor: number): CheckPod | undefined => versions.findLast(({ since }) => since <= minor)?.check

export const reasonsOf = (violations: readonly Violation[]): string => violations.map(({ reason }) => reason).join(', ')

export const detailsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')

export const violationText = (policy: LevelVersion, violations: readonly Violation[], isHypothetical = false): string =>
  `${isHypothetical ? 'would violate' : 'violates'} PodSecurity "${nameOf(policy)}": ${detailsOf(violations)}`
