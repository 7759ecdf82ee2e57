// Which objects, and objects of which namespaces, a hook or a policy is about, by their labels.

import { notFound } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { CompiledLabelSelector, Labels } from '../../api/label-selector.js'
import type { ApiObject } from '../../api/object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission.js'
import { seenAsSent } from './seen-as.js'

const isNamespace = ({ resource }: AdmissionRequest): boolean => resource.group === '' && resource.name === 'namespaces'

/** The namespace of a request; a Namespace is in itself. */
export const namespaceOf = (request: AdmissionRequest): string =>
  isNamespace(request) ? request.call.name || (request.object?.metadata?.name ?? '') : request.namespace

/** One of the two objects is enough. Options of connections have no labels, and are never selected. */
export function matchesObjects(selector: CompiledLabelSelector, request: AdmissionRequest): boolean {
  if (selector.isEverything) return true
  if (seenAsSent(request).schema?.fields['metadata'] === undefined) return false
  const matches = (object: ApiObject | undefined): boolean => object !== undefined && selector.matches(object.metadata?.labels)
  return matches(request.object) || matches(request.old)
}

export interface NamespaceSource {
  readonly store: ObjectStore
  readonly namespaces: Resource
}

/** What is in no namespace is always selected. Throws where the namespace is not there. */
export function matchesNamespace(selector: CompiledLabelSelector, request: AdmissionRequest, source: NamespaceSource): boolean {
  if (selector.isEverything) return true
  const namespace = namespaceOf(request)
  if (namespace === '' && !isNamespace(request)) return true
  return selector.matches(labelsOf(request, namespace, source))
}

/** A Namespace that is written has the labels that it will have. */
function labelsOf(request: AdmissionRequest, namespace: string, { store, namespaces }: NamespaceSource): Labels | undefined {
  const { operation, subresource, object } = request
  if (isNamespace(request) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata?.labels
  const stored = store.readOften({ resource: namespaces, namespace: '', name: namespace })
  if (stored === undefined) throw notFound(namespaces.subject, namespace)
  return stored.labels()
}
