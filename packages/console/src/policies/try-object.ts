// Tries an object against the policies of the server and typed ones: a dry run of the server, and an evaluation in the browser.

import { readDocuments } from '@cluster-apiserver/api/codec/yaml/read-documents.js'
import {
  type BoundPolicy,
  bindPolicies,
  CompiledBinding,
  CompiledPolicy,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import { withBindingDefaults, withPolicyDefaults } from '@cluster-apiserver/api/resources/admissionregistration/policy/policy-defaults.js'
import { type PolicyTrial, tryPolicies } from '@cluster-apiserver/api/resources/admissionregistration/policy/try-policies.js'
import type {
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import { apiVersionOf, type DynamicObject, isClientError, type ServedResource } from '@cluster-apiserver/client/browser.js'
import type { Session } from '../session/session.js'
import { browserTurns } from './browser-turns.js'
import type { Draft } from './draft.js'

export interface TriedUser {
  readonly name: string
  readonly groups: readonly string[]
}

export interface TryResult {
  readonly resource: ServedResource
  /** Undefined: the server accepts the request. */
  readonly refusal: unknown
  /** False: the object as it was typed, without the defaults and the changes of admission. */
  readonly isAsAdmitted: boolean
  readonly trials: readonly PolicyTrial[]
  /** Names of policies of the server. */
  readonly stored: ReadonlySet<string>
  readonly notes: readonly string[]
}

export const anywhere = 'no binding: as if bound everywhere'

type Document = DynamicObject

/** Throws if the texts cannot be read, or if the server does not serve the kind. */
export async function tryObject(session: Session, draft: Draft, user: TriedUser, signal: AbortSignal): Promise<TryResult> {
  const [typed] = documentsIn(draft.object)
  if (typed === undefined) throw new Error('the object is empty')
  const { apiVersion = '', kind = '' } = typed
  const resource = session.resources.find((each) => each.kind === kind && apiVersionOf(each.group, each.version) === apiVersion)
  if (resource === undefined)
    throw new Error(`the server does not serve kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  const namespace = resource.namespaced ? (typed.metadata?.namespace ?? 'default') : ''
  const dryRun = await runDry(session, { resource, namespace, typed, operation: draft.operation, signal })
  const documents = documentsIn(draft.policies)
  const { bound, stored, notes } = await policiesOf(session, documents, signal)
  const { group, version } = resource
  const identity = await session.client.identity({ signal })
  const names = { group, version, name: resource.resource, namespaced: resource.namespaced }
  const trials = await tryPolicies(
    bound,
    {
      operation: draft.operation,
      kind: { group, version, kind },
      resource: names,
      subresource: '',
      name: typed.metadata?.name ?? '',
      namespace,
      user: { name: user.name, uid: '', groups: user.groups, extra: {} },
      dryRun: false,
      options: { kind: optionKinds[draft.operation], apiVersion: `${identity.group({ stem: 'meta' })}/v1` },
      object: draft.operation === 'DELETE' ? undefined : (dryRun.object ?? typed),
      old: dryRun.old,
    },
    {
      equivalents: session.resources
        .filter((each) => each.group === group && each.resource === resource.resource && each.version !== version)
        .map((each) => ({ ...names, version: each.version })),
      namespaceLabels: await namespaceLabels(session, namespace, signal),
      readParams: (paramKind, ref) => readParams(session, documents, paramKind, ref, signal),
      turns: browserTurns(signal),
    },
  )
  return { resource, refusal: dryRun.refusal, isAsAdmitted: dryRun.refusal === undefined, trials, stored, notes }
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: '' } as const

const documentsIn = (text: string): readonly Document[] =>
  readDocuments(text).flatMap(({ value }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('a document is not an object')
    return [value as unknown as Document]
  })

interface DryRun {
  readonly resource: ServedResource
  readonly namespace: string
  readonly typed: Document
  readonly operation: Operation
  readonly signal: AbortSignal
}

interface DryRunResult {
  readonly object?: Document
  readonly old?: Document
  readonly refusal?: unknown
}

async function runDry(session: Session, { resource, namespace, typed, operation, signal }: DryRun): Promise<DryRunResult> {
  const collection = session.client.collection<Document>(resource, namespace)
  const name = typed.metadata?.name ?? ''
  const old = operation === 'CREATE' ? undefined : await collection.get(name, { signal })
  const found = old === undefined ? {} : { old }
  try {
    if (operation === 'CREATE') return { object: await collection.create(typed, { dryRun: true, signal }) }
    if (operation === 'UPDATE') return { ...found, object: await collection.update(typed, { dryRun: true, signal }) }
    await collection.delete(name, { dryRun: true, signal })
    return found
  } catch (thrown) {
    if (signal.aborted || !isClientError(thrown)) throw thrown
    return { ...found, refusal: thrown }
  }
}

interface FoundPolicies {
  readonly bound: readonly BoundPolicy[]
  readonly stored: ReadonlySet<string>
  readonly notes: readonly string[]
}

/** Typed policies replace stored ones of the same name. Typed ones without a binding are bound everywhere. */
async function policiesOf(session: Session, documents: readonly Document[], signal: AbortSignal): Promise<FoundPolicies> {
  const notes: string[] = []
  const list = async (name: string): Promise<readonly Document[]> => {
    const served = session.resources.find((each) => each.resource === name && each.group.startsWith('admissionregistration.'))
    if (served === undefined) return []
    try {
      return (await session.client.collection<Document>(served).list({ signal })).items
    } catch (thrown) {
      if (signal.aborted || !isClientError(thrown)) throw thrown
      notes.push(`The ${name} of the server are not known: ${thrown.message}`)
      return []
    }
  }
  const merge = async (
    kind: string,
    name: string,
  ): Promise<{ readonly typed: readonly Document[]; readonly stored: readonly Document[] }> => {
    const typed = documents.filter((each) => each.kind === kind)
    const replaced = new Set(typed.map(nameOf))
    return { typed, stored: (await list(name)).filter((each) => !replaced.has(nameOf(each))) }
  }
  const policies = await merge('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
  const bindings = await merge('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings')
  const allBindings = [...bindings.typed, ...bindings.stored] as readonly ValidatingAdmissionPolicyBinding[]
  const isBound = (policy: Document): boolean => allBindings.some(({ spec }) => spec?.policyName === nameOf(policy))
  const implied = policies.typed.filter((policy) => !isBound(policy)).map((policy) => bindingOf(policy, documents))
  const bound = bindPolicies(
    [...policies.typed, ...policies.stored].map((policy) => new CompiledPolicy(withPolicyDefaults(policy as ValidatingAdmissionPolicy))),
    [...allBindings, ...implied].map((binding) => new CompiledBinding(withBindingDefaults(binding))),
  )
  return { bound, stored: new Set(policies.stored.map(nameOf)), notes }
}

const nameOf = ({ metadata }: Document): string => metadata?.name ?? ''

/** With the first typed object of the parameter kind. */
function bindingOf(policy: Document, documents: readonly Document[]): ValidatingAdmissionPolicyBinding {
  const { paramKind } = (policy as ValidatingAdmissionPolicy).spec ?? {}
  const params = documents.find((each) => isOfKind(each, paramKind))
  const { name = '', namespace } = params?.metadata ?? {}
  const paramRef = params === undefined ? {} : { paramRef: { name, ...(namespace === undefined ? {} : { namespace }) } }
  return { metadata: { name: anywhere }, spec: { policyName: nameOf(policy), ...paramRef } }
}

const isOfKind = ({ apiVersion, kind }: Document, paramKind: ParamKind | undefined): boolean =>
  paramKind !== undefined && apiVersion === paramKind.apiVersion && kind === paramKind.kind

async function readParams(
  session: Session,
  documents: readonly Document[],
  paramKind: ParamKind,
  { name = '', namespace }: ParamRef,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const typed = documents.find(
    (each) => isOfKind(each, paramKind) && nameOf(each) === name && (namespace === undefined || each.metadata?.namespace === namespace),
  )
  const served = session.resources.find(
    (each) => each.kind === paramKind.kind && apiVersionOf(each.group, each.version) === paramKind.apiVersion,
  )
  return typed ?? (served && (await session.client.collection<Document>(served, namespace).find(name, { signal })))
}

/** Undefined if the namespace does not exist, or if the user may not read it. */
async function namespaceLabels(
  session: Session,
  namespace: string,
  signal: AbortSignal,
): Promise<{ readonly [name: string]: string } | undefined> {
  const served = session.resources.find((each) => each.group === '' && each.resource === 'namespaces')
  if (namespace === '' || served === undefined) return undefined
  try {
    return (await session.client.collection<Document>(served).get(namespace, { signal })).metadata?.labels ?? {}
  } catch (thrown) {
    if (signal.aborted || !isClientError(thrown)) throw thrown
    return undefined
  }
}
