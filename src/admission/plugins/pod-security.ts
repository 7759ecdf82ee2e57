// Pods keep to the pod security standard of their namespace: what is against it is refused, noted down or warned of, as the namespace says.

import { forbidden, invalid } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { labelsAmong } from '../../objects/stored-label.js'
import type { PodSpec } from '../../resources/core/v1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { PodSecuritySettings } from '../config/pod-security-settings.js'
import { evaluatePod, violationText } from '../pod-security/evaluate.js'
import { checkExistingPods } from '../pod-security/existing-pods.js'
import { isSignificantChange, podOf, templateCollections } from '../pod-security/pods-in.js'
import {
  allowsAll,
  describePolicy,
  isSamePolicy,
  isStricter,
  nameOf,
  type Policy,
  policyLabels,
  policyOf,
  type ReadPolicy,
} from '../pod-security/policy.js'

export interface PodSecurityParts {
  readonly store: ObjectStore
  readonly namespaces: Resource
  readonly pods: Resource
  readonly settings: PodSecuritySettings
}

const mostRemembered = 10_000
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

export function podSecurity(parts: PodSecurityParts): Plugin {
  const { store, namespaces, settings } = parts
  const known = new Map<string, { readonly revision: number; readonly read: ReadPolicy }>()

  /** What was read of a namespace holds until it is written again. */
  function policyIn(request: AdmissionRequest): ReadPolicy {
    const stored = store.readOften({ resource: namespaces, namespace: '', name: request.namespace })
    const before = known.get(request.namespace)
    if (stored !== undefined && before?.revision === stored.revision) return before.read
    const read = policyOf(stored && labelsAmong(stored, policyLabels(request.identity)), settings.defaults, request.identity)
    if (known.size >= mostRemembered) known.clear()
    if (stored !== undefined) known.set(request.namespace, { revision: stored.revision, read })
    return read
  }

  function checkPod(request: AdmissionRequest): void {
    if (ignoredSubresources.has(request.subresource) || isExempt(request, settings)) return
    const read = policyIn(request)
    if (read.errors.length === 0 && allowsAll(read.policy)) {
      annotate(request, 'enforce-policy', nameOf(read.policy.enforce))
      return
    }
    const pod = podOf(request.object)
    if (pod === undefined || (request.operation === 'UPDATE' && !isSignificantChange(pod, podOf(request.old), request.identity))) return
    evaluate(request, { ...pod, read, enforces: true })
  }

  function checkTemplate(request: AdmissionRequest): void {
    if (request.subresource !== '' || isExempt(request, settings)) return
    const read = policyIn(request)
    const { audit, warn } = read.policy
    if (read.errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return
    const pod = podOf(request.object)
    if (pod !== undefined) evaluate(request, { ...pod, read, enforces: false })
  }

  function evaluate(request: AdmissionRequest, { annotations, spec, read, enforces }: Evaluation): void {
    if (settings.exemptions.runtimeClasses.has(spec.runtimeClassName ?? '')) {
      annotate(request, 'exempt', 'runtimeClass')
      return
    }
    const { policy, errors } = read
    if (errors.length > 0) annotate(request, 'error', `Failed to parse policy: ${errors.map((error) => error.message).join(', ')}`)
    const pod = { annotations, spec, identity: request.identity }
    const violations = enforces ? evaluatePod(policy.enforce, pod) : []
    if (enforces) annotate(request, 'enforce-policy', nameOf(policy.enforce))
    const audited = enforces && isSamePolicy(policy.audit, policy.enforce) ? violations : evaluatePod(policy.audit, pod)
    if (audited.length > 0) annotate(request, 'audit-violations', violationText(policy.audit, audited, true))
    if (violations.length > 0) throw forbidden(request.resource.subject, request.name, violationText(policy.enforce, violations))
    const warned = enforces && isSamePolicy(policy.warn, policy.enforce) ? violations : evaluatePod(policy.warn, pod)
    if (warned.length > 0) request.call.warn(violationText(policy.warn, warned, true))
  }

  async function checkNamespace(request: AdmissionRequest): Promise<void> {
    if (request.subresource !== '') return
    const next = policyOf(request.object?.metadata?.labels, settings.defaults, request.identity)
    const old = request.old === undefined ? undefined : policyOf(request.old.metadata?.labels, settings.defaults, request.identity)
    const isNews = old === undefined || JSON.stringify(old.errors) !== JSON.stringify(next.errors)
    if (next.errors.length > 0 && isNews) throw invalid(request.resource.invalidSubject, request.name, next.errors)
    if (old !== undefined && !isTightened(next.policy, old.policy)) return
    if (settings.exemptions.namespaces.has(request.name)) {
      if (!allowsAll(next.policy) && !isSame(next.policy, settings.defaults)) request.call.warn(ignoredText(request, next.policy))
      return
    }
    if (old !== undefined) await checkExistingPods(parts, request, next.policy.enforce)
  }

  return {
    name: 'PodSecurity',
    collections: ['pods', 'namespaces', ...templateCollections],
    validate: (request) => {
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined
      const { collection } = request.resource
      if (collection === 'namespaces') return checkNamespace(request)
      return collection === 'pods' ? checkPod(request) : checkTemplate(request)
    },
  }
}

interface Evaluation {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
  readonly read: ReadPolicy
  readonly enforces: boolean
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

/** Whether pods that are there may be against what is enforced from now on. */
function isTightened({ enforce: next }: Policy, { enforce: old }: Policy): boolean {
  if (isSamePolicy(next, old) || next.level === 'privileged') return false
  return next.version !== old.version || isStricter(next.level, old.level)
}

const isSame = (one: Policy, other: Policy): boolean =>
  isSamePolicy(one.enforce, other.enforce) && isSamePolicy(one.audit, other.audit) && isSamePolicy(one.warn, other.warn)

function ignoredText({ name, object, identity }: AdmissionRequest, policy: Policy): string {
  const text = describePolicy(policy, object?.metadata?.labels ?? {}, identity)
  return `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${text}) will be ignored`
}
