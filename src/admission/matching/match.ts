// Whether a hook or a policy is about a request, and as what it sees its objects.

import type { CatalogSource } from '../../api/catalog-source.js'
import type { CompiledLabelSelector } from '../../api/label-selector.js'
import type { AdmissionRequest } from '../admission.js'
import { matchesName, matchesRule, type OperationRule } from './rules.js'
import { equivalentsOf, type SeenAs, seenAsSent } from './seen-as.js'
import { matchesNamespace, matchesObjects, type NamespaceSource } from './selectors.js'

export interface Criteria {
  /** The first one that is about the request counts; undefined: every request is meant. */
  readonly rules: readonly OperationRule[] | undefined
  /** Of policies: what is not meant after all. */
  readonly excluded?: readonly OperationRule[]
  /** Whether other versions and groups of the same objects are meant as well. */
  readonly isEquivalent: boolean
  readonly namespaces: CompiledLabelSelector
  readonly objects: CompiledLabelSelector
}

export interface MatchSource extends NamespaceSource {
  readonly catalogs: Pick<CatalogSource, 'current'>
}

/** Undefined: the request is not meant. Throws where it is, and its namespace is not there. */
export function match(criteria: Criteria, request: AdmissionRequest, source: MatchSource): SeenAs | undefined {
  const { rules, excluded = [] } = criteria
  if (excluded.length > 0 && matchRules(excluded, criteria, request, source) !== undefined) return undefined
  const as = rules === undefined ? seenAsSent(request) : matchRules(rules, criteria, request, source)
  return as !== undefined && matchesSelectors(criteria, request, source) ? as : undefined
}

export const matchesSelectors = (
  { objects, namespaces }: Pick<Criteria, 'objects' | 'namespaces'>,
  request: AdmissionRequest,
  source: NamespaceSource,
): boolean => matchesObjects(objects, request) && matchesNamespace(namespaces, request, source)

/** Whether requests of the same operation on the same resource may be meant, whatever their names, labels and namespaces. */
export function mayMatch(criteria: Criteria, request: AdmissionRequest, { catalogs }: Pick<MatchSource, 'catalogs'>): boolean {
  const { rules, isEquivalent } = criteria
  if (rules === undefined) return true
  const { operation, subresource } = request
  const isMeant = ({ resource }: SeenAs): boolean => rules.some((rule) => matchesRule(rule, { operation, resource, subresource }))
  return isMeant(seenAsSent(request)) || (isEquivalent && equivalentsOf(catalogs.current, request).some(isMeant))
}

/** By the request as it was sent first, and then by what is equivalent to it, rule by rule. */
export function matchRules(
  rules: readonly OperationRule[],
  { isEquivalent }: Pick<Criteria, 'isEquivalent'>,
  request: AdmissionRequest,
  { catalogs }: Pick<MatchSource, 'catalogs'>,
): SeenAs | undefined {
  const { operation, subresource } = request
  const isMeant = (rule: OperationRule, { resource }: SeenAs): boolean =>
    matchesRule(rule, { operation, resource, subresource }) && matchesName(rule, request)
  const sent = seenAsSent(request)
  if (rules.some((rule) => isMeant(rule, sent))) return sent
  if (!isEquivalent) return undefined
  const equivalents = equivalentsOf(catalogs.current, request)
  if (equivalents.length === 0) return undefined
  for (const rule of rules) {
    const found = equivalents.find((each) => isMeant(rule, each))
    if (found !== undefined) return found
  }
  return undefined
}
