// Matches requests with the rules and selectors of a webhook or policy, and finds the kind in which the webhook or policy sees the objects.

import { notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { CompiledLabelSelector, Labels } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import {
  type Criteria,
  matchesName,
  matchesRule,
  type OperationRule,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import { equivalentsOf, type MatchedKind, requestedKind } from './versioned-object.js'

export interface MatchSource extends NamespaceSource {
  readonly catalogs: Pick<CatalogSource, 'current'>
}

/** Returns undefined without a match. Throws 404 if all else matches and the namespaceSelector needs a missing namespace. */
export function match(criteria: Criteria, request: AdmissionRequest, source: MatchSource): MatchedKind | undefined {
  const { rules, excluded = [] } = criteria
  if (excluded.length > 0 && matchRules(excluded, criteria, request, source) !== undefined) return undefined
  const matched = rules === undefined ? requestedKind(request) : matchRules(rules, criteria, request, source)
  return matched !== undefined && matchesSelectors(criteria, request, source) ? matched : undefined
}

export const matchesSelectors = (
  { objects, namespaces }: Pick<Criteria, 'objects' | 'namespaces'>,
  request: AdmissionRequest,
  source: NamespaceSource,
): boolean => matchesObjects(objects, request) && matchesNamespace(namespaces, request, source)

/** True if some request with this operation and resource can match, whatever its name, labels and namespace. */
export function mayMatch(criteria: Criteria, request: AdmissionRequest, { catalogs }: Pick<MatchSource, 'catalogs'>): boolean {
  const { rules, isEquivalent } = criteria
  if (rules === undefined) return true
  const { operation, subresource } = request
  const isMatch = ({ resource }: MatchedKind): boolean => rules.some((rule) => matchesRule(rule, { operation, resource, subresource }))
  return isMatch(requestedKind(request)) || (isEquivalent && equivalentsOf(catalogs.current, request).some(isMatch))
}

export function matchRules(
  rules: readonly OperationRule[],
  { isEquivalent }: Pick<Criteria, 'isEquivalent'>,
  request: AdmissionRequest,
  { catalogs }: Pick<MatchSource, 'catalogs'>,
): MatchedKind | undefined {
  const { operation, subresource, name } = request
  const isMatch = (rule: OperationRule, { resource }: MatchedKind): boolean =>
    matchesRule(rule, { operation, resource, subresource }) && matchesName(rule, name)
  const requested = requestedKind(request)
  if (rules.some((rule) => isMatch(rule, requested))) return requested
  if (!isEquivalent) return undefined
  const equivalents = equivalentsOf(catalogs.current, request)
  if (equivalents.length === 0) return undefined
  for (const rule of rules) {
    const found = equivalents.find((each) => isMatch(rule, each))
    if (found !== undefined) return found
  }
  return undefined
}

const exemptKinds = new Set([
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
])

/** Webhooks and policies do not apply to webhook configurations, policies and bindings, so that faulty ones can be repaired. */
export const isExempt = ({ resource, identity }: Pick<AdmissionRequest, 'resource' | 'identity'>): boolean =>
  exemptKinds.has(resource.kind) && resource.group === identity.group({ stem: 'admissionregistration' })

const isNamespace = ({ resource }: AdmissionRequest): boolean => resource.group === '' && resource.name === 'namespaces'

export const namespaceOf = (request: AdmissionRequest): string =>
  isNamespace(request) ? request.call.name || (request.object?.metadata?.name ?? '') : request.namespace

/** A match of the new or the old object is enough. Options of CONNECT have no labels and never match. */
function matchesObjects(selector: CompiledLabelSelector, request: AdmissionRequest): boolean {
  if (selector.isEverything) return true
  if (requestedKind(request).schema?.fields['metadata'] === undefined) return false
  const matches = (object: ApiObject | undefined): boolean => object !== undefined && selector.matches(object.metadata?.labels)
  return matches(request.object) || matches(request.old)
}

interface NamespaceSource {
  readonly store: ObjectStore
  readonly namespaces: Resource
}

/** Cluster-scoped objects other than Namespaces always match. Throws 404 if a selector needs a missing namespace. */
function matchesNamespace(selector: CompiledLabelSelector, request: AdmissionRequest, source: NamespaceSource): boolean {
  if (selector.isEverything) return true
  const namespace = namespaceOf(request)
  if (namespace === '' && !isNamespace(request)) return true
  return selector.matches(labelsOf(request, namespace, source))
}

/** For a Namespace that is written, uses its new labels. */
function labelsOf(request: AdmissionRequest, namespace: string, { store, namespaces }: NamespaceSource): Labels | undefined {
  const { operation, subresource, object } = request
  if (isNamespace(request) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata?.labels
  const stored = store.readCached({ resource: namespaces, namespace: '', name: namespace })
  if (stored === undefined) throw notFound(namespaces.subject, namespace)
  return stored.labels()
}

/** Caches `compute` per resource, operation and subresource, until the source or the catalog changes. */
export function cachePerScope<Source, Result>(
  catalogs: Pick<CatalogSource, 'current'>,
  compute: (source: Source, request: AdmissionRequest) => Result,
): (source: Source, request: AdmissionRequest) => Result {
  let currentSource: Source | undefined
  let catalog: Catalog | undefined
  let cache = new Map<Resource, Map<string, Result>>()
  return (source, request) => {
    if (source !== currentSource || catalog !== catalogs.current) {
      currentSource = source
      catalog = catalogs.current
      cache = new Map()
    }
    const byScope = getOrInsert(cache, request.resource, () => new Map<string, Result>())
    const { operation, subresource } = request
    return getOrInsert(byScope, subresource === '' ? operation : `${operation} ${subresource}`, () => compute(source, request))
  }
}
