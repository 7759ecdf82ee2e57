// Validates objects like a create request: strict decoding, defaulting, schema, rules of the kind, CEL rules and admission policies.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { Call, type Caller } from '@cluster-apiserver/api/api/call.js'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { EvaluatedExpression as EvaluatedRule } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { parseFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { validateCreation } from '@cluster-apiserver/api/api/validation/validate-write.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { traceExpression } from '@cluster-apiserver/api/cel/trace.js'
import { shapeObject } from '@cluster-apiserver/api/codec/decode-object.js'
import { parseYaml, type YamlNode } from '@cluster-apiserver/api/codec/yaml/parser.js'
import type { CompiledPolicy } from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'
import { type EvaluatedExpression, expressionLimit } from '@cluster-apiserver/api/resources/admissionregistration/policy/evaluate-policy.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { AdmissionRequest } from '../../admission/admission-plugin.js'
import { activePolicies } from '../../admission/validating-admission-policy/active-policies.js'
import { PolicyCounters } from '../../admission/validating-admission-policy/policy-counters.js'
import { denialsOf, describeDenial, type PolicyParts } from '../../admission/validating-admission-policy/validating-admission-policy.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { ExpressionCosts } from './expression-costs.js'
import type { Manifest } from './read-manifests.js'
import type { CheckedObject, Finding, TracedPart } from './render-result.js'

interface CheckSettings {
  readonly identity: Identity
  readonly store: ObjectStore
  readonly now: number
  readonly namespace: string
  readonly user: User
  readonly wantsTrace: boolean
}

interface AcceptedObject {
  readonly manifest: Manifest
  readonly resource: Resource
  readonly call: Call
  readonly object: ApiObject
  readonly title: string
}

const noBytes = new Uint8Array()
const defaultGates = parseFeatureGates([])

const byKind = weakMemoize(
  (catalog: Catalog) =>
    new Map(
      catalog
        .all()
        .toReversed()
        .map((resource) => [`${resource.apiVersion} ${resource.kind}`, resource]),
    ),
)

export class ObjectCheck {
  readonly findings: Finding[] = []
  readonly objects: CheckedObject[] = []
  readonly expressions = new ExpressionCosts()
  private readonly settings: CheckSettings
  private readonly catalogs: CatalogSource
  private readonly locator = new FieldLocator()
  private readonly accepted: AcceptedObject[] = []
  private readonly policyParts: PolicyParts
  private readonly policies = new Map<string, Manifest>()
  /** Values of the parts of the last policy expression that was not true. */
  private traces: readonly TracedPart[] | undefined

  constructor(settings: CheckSettings) {
    const { identity, store } = settings
    this.settings = settings
    this.catalogs = new CatalogSource(new Catalog({ identity, definitions, isServed: () => true }))
    this.policyParts = {
      store,
      catalogs: this.catalogs,
      namespaces: this.builtInResource('', 'v1', 'namespaces'),
      policies: this.builtInResource(identity.group({ stem: 'admissionregistration' }), 'v1alpha1', 'validatingadmissionpolicies'),
      bindings: this.builtInResource(identity.group({ stem: 'admissionregistration' }), 'v1alpha1', 'validatingadmissionpolicybindings'),
      counters: new PolicyCounters(),
      observe: (policy, evaluated) => this.recordPolicyRun(policy, evaluated),
    }
  }

  private builtInResource(group: string, version: string, name: string): Resource {
    const found = this.catalogs.current.find(group, version, name)
    if (found === undefined) throw new Error(`${name} are not served`)
    return found
  }

  async check(manifests: readonly Manifest[]): Promise<void> {
    const isCrd = ({ value }: Manifest): boolean => value['kind'] === 'CustomResourceDefinition'
    for (const manifest of manifests.filter(isCrd)) this.checkCrd(manifest)
    for (const manifest of manifests) if (!isCrd(manifest)) this.checkObject(manifest)
    await this.storePolicyInputs()
    await this.checkPolicies()
  }

  private find(manifest: Manifest, apiVersion: string, kind: string): Resource | undefined {
    const found = byKind(this.catalogs.current).get(`${apiVersion} ${kind}`)
    if (found !== undefined) return found
    const other = this.settings.identity.translate(apiVersion.split('/')[0] ?? '')
    const hint = other === undefined ? '' : `; did you mean --identity=${other.from}?`
    this.fail(manifest, 'apiVersion', `unknown kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}${hint}`)
    return undefined
  }

  private checkCrd(manifest: Manifest): void {
    const accepted = this.checkObject(manifest)
    if (accepted === undefined) return
    const definition = accepted.object as CustomResourceDefinition
    this.expressions.addDefinition(definition, accepted.title, (field) => this.positionOf(manifest, field))
    this.catalogs.change({ put: [customKind({ ...definition, status: { acceptedNames: definition.spec?.names ?? {} } })] })
  }

  private checkObject(manifest: Manifest): AcceptedObject | undefined {
    const { apiVersion = '', kind = '' } = manifest.value as { apiVersion?: string; kind?: string }
    const title = titleOf(manifest)
    this.objects.push({ file: manifest.file, line: this.lineOf(manifest, ''), object: title })
    for (const duplicate of manifest.duplicates) this.fail(manifest, '', duplicate)
    const resource = this.find(manifest, apiVersion, kind)
    if (resource === undefined) return undefined
    const findingsBefore = this.findings.length
    try {
      const { object, problems } = shapeObject({ value: manifest.value }, noBytes, resource)
      for (const problem of problems) this.fail(manifest, /"(.*)"/.exec(problem)?.[1] ?? '', problem)
      const accepted = this.checkRules({ manifest, resource, object, title })
      return this.hasFailedSince(findingsBefore) ? undefined : accepted
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      this.fail(manifest, /json: ([\w.[\]-]+):/.exec(thrown.message)?.[1] ?? '', thrown.message)
      return undefined
    }
  }

  private checkRules({ manifest, resource, object, title }: Omit<AcceptedObject, 'call'>): AcceptedObject {
    const call = this.callFor(manifest, resource, object)
    const defaulted = resource.defaults?.(withNamespace(call, object), call) ?? withNamespace(call, object)
    const stored = resource.definition.validatesRequestVersion ? defaulted : (resource.toStored?.(defaulted) ?? defaulted)
    const stamped = withMetadata(stored, {
      name: stored.metadata?.name ?? (stored.metadata?.generateName ? `${stored.metadata.generateName}00000` : undefined),
      uid: '00000000-0000-0000-0000-000000000000',
      creationTimestamp: timeOf(this.settings.now),
      resourceVersion: undefined,
    })
    const prepared = resource.definition.prepareCreate?.(stamped, call) ?? stamped
    const errors = [...validateCreation(resource.definition, prepared, call)]
    const failed: EvaluatedRule[] = []
    const context = { ...call, onExpression: (evaluated: EvaluatedRule) => this.recordRuleRun(resource, evaluated, failed) }
    const work = resource.definition.expressions?.(prepared, undefined, context as never, errors)
    const expressionErrors = work === undefined ? [] : finish(work)
    for (const { field, message } of errors) this.fail(manifest, field, message)
    expressionErrors.forEach(({ field, message }, i) => {
      this.fail(manifest, field, message, this.settings.wantsTrace ? failed[i]?.trace() : undefined)
    })
    for (const text of resource.definition.warnings?.(prepared, undefined, call) ?? []) this.warn(manifest, text)
    const accepted = { manifest, resource, call, object: prepared, title }
    if (errors.length + expressionErrors.length === 0) this.accepted.push(accepted)
    return accepted
  }

  private callFor(manifest: Manifest, resource: Resource, { metadata }: ApiObject): Call {
    const { identity, user, now, namespace } = this.settings
    const caller: Caller = {
      info: undefined,
      user,
      userAgent: 'check',
      now,
      signal: undefined,
      throwIfAborted: () => undefined,
      warn: (text) => this.warn(manifest, text),
      annotate: () => undefined,
    }
    return new Call({ identity, gates: defaultGates, forbidsPrivileged: false }, caller, {
      resource,
      subresource: undefined,
      namespace: resource.namespaced ? (metadata?.namespace ?? namespace) : '',
      name: metadata?.name ?? '',
      options: {},
    })
  }

  /** Stores policies, bindings, namespaces and parameter objects, which policies read. */
  private async storePolicyInputs(): Promise<void> {
    const { policies, bindings, namespaces } = this.policyParts
    const params = new Set(
      this.accepted.flatMap(({ resource, object }) => {
        const { paramKind } = (object as { spec?: { paramKind?: { apiVersion?: string; kind?: string } } }).spec ?? {}
        return resource === policies && paramKind !== undefined ? [`${paramKind.apiVersion} ${paramKind.kind}`] : []
      }),
    )
    const storedCollections = new Set([policies, bindings, namespaces].map(({ collection }) => collection))
    const missing = new Map<string, ApiObject>()
    for (const { manifest, resource, object, call } of this.accepted) {
      if (resource === policies) this.policies.set(object.metadata?.name ?? '', manifest)
      if (call.namespace !== '') missing.set(call.namespace, { metadata: namespaceMetadata(call.namespace, this.settings.identity) })
      if (storedCollections.has(resource.collection) || params.has(`${resource.apiVersion} ${resource.kind}`))
        await this.put(resource, object)
    }
    for (const [name, object] of missing) {
      if (this.settings.store.read({ resource: namespaces, namespace: '', name }) === undefined) await this.put(namespaces, object)
    }
  }

  private async put(resource: Resource, object: ApiObject): Promise<void> {
    const { store } = this.settings
    const { name = '', namespace = '' } = object.metadata ?? {}
    const address = { resource, namespace: resource.namespaced ? namespace : '', name }
    await store.put(address, store.encode(resource, object), { expect: store.read(address)?.revision ?? 0 })
  }

  private async checkPolicies(): Promise<void> {
    const { policies, bindings } = this.policyParts
    const active = activePolicies(this.policyParts)()
    if (active.length === 0) return
    for (const { manifest, resource, call, object } of this.accepted) {
      if (resource === policies || resource === bindings) continue
      this.traces = undefined
      const request = new AdmissionRequest(call, 'CREATE', { object, old: undefined })
      for (const refusal of await denialsOf(active, request, this.policyParts))
        this.fail(manifest, '', describeDenial(refusal), this.traces)
    }
  }

  private recordPolicyRun(policy: CompiledPolicy, { index, compiled, value, cost, variables }: EvaluatedExpression): void {
    const manifest = this.policies.get(policy.name)
    const { program, validation } = compiled
    if (manifest === undefined || program === undefined) return
    const field = `spec.validations[${index}].expression`
    this.expressions.addRun(`policy ${policy.name} ${index}`, { cost, isTrue: value === true }, () => ({
      ...this.positionOf(manifest, field),
      object: `ValidatingAdmissionPolicy ${policy.name}`,
      field,
      text: validation.expression ?? '',
      program,
    }))
    if (value !== true && this.settings.wantsTrace) this.traces = traceExpression(program, variables, expressionLimit)
  }

  private recordRuleRun({ definition }: Resource, evaluated: EvaluatedRule, failed: EvaluatedRule[]): void {
    if (!evaluated.isTrue) failed.push(evaluated)
    this.expressions.addRuleRun(definition, evaluated)
  }

  private positionOf(manifest: Manifest, field: string): { readonly file: string; readonly line: number } {
    return { file: manifest.file, line: this.lineOf(manifest, field) }
  }

  private lineOf(manifest: Manifest, field: string): number {
    return field === '' && manifest.line === 1 && manifest.within === '' ? 1 : this.locator.lineOf(manifest, field)
  }

  private hasFailedSince(findingsBefore: number): boolean {
    return this.findings.slice(findingsBefore).some(({ severity }) => severity === 'failure')
  }

  private fail(manifest: Manifest, field: string, message: string, trace?: readonly TracedPart[]): void {
    this.addFinding('failure', manifest, field, message, trace)
  }

  private warn(manifest: Manifest, message: string): void {
    this.addFinding('warning', manifest, '', message)
  }

  private addFinding(
    severity: Finding['severity'],
    manifest: Manifest,
    field: string,
    message: string,
    trace?: readonly TracedPart[],
  ): void {
    const fieldPath = field === '<nil>' ? '' : field
    this.findings.push({
      severity,
      ...this.positionOf(manifest, fieldPath),
      objectLine: this.lineOf(manifest, ''),
      object: titleOf(manifest),
      field: fieldPath,
      message,
      ...(trace === undefined || trace.length === 0 ? {} : { trace }),
    })
  }
}

function titleOf({ value }: Manifest): string {
  const { apiVersion = '', kind = '', metadata } = value as { apiVersion?: string; kind?: string; metadata?: ApiObject['metadata'] }
  return `${apiVersion} ${kind} ${metadata?.name ?? metadata?.generateName ?? ''}`.trim()
}

const withNamespace = ({ namespace, resource }: Call, object: ApiObject): ApiObject =>
  resource.namespaced && object.metadata?.namespace === undefined ? withMetadata(object, { namespace }) : object

const namespaceMetadata = (name: string, identity: Identity): NonNullable<ApiObject['metadata']> => ({
  name,
  uid: name,
  labels: { [identity.label('metadata.name')]: name },
})

function partsOfPath(path: string): readonly string[] {
  const parts: string[] = []
  const pattern = /\[([^\]]*)\]|[^.[\]]+/g
  for (let match = pattern.exec(path); match !== null; match = pattern.exec(path)) parts.push(match[1] ?? match[0])
  return parts
}

/** Caches the tree of the last document, because findings of one object are consecutive. */
class FieldLocator {
  private last: { readonly text: string; readonly root: YamlNode | undefined } | undefined

  lineOf({ text, line, within }: Manifest, path: string): number {
    const root = this.rootOf(text)
    if (root === undefined) return line
    let node: YamlNode = root
    let found = within === '' ? (firstLine(root) ?? root.line) : root.line
    for (const part of partsOfPath(within === '' ? path : `${within}.${path}`)) {
      const next = childOf(node, part)
      if (next === undefined) break
      node = next.value
      found = next.line
    }
    return line + found
  }

  private rootOf(text: string): YamlNode | undefined {
    if (this.last?.text === text) return this.last.root
    const root = parseYaml(text)
    this.last = { text, root }
    return root
  }
}

function childOf(node: YamlNode, part: string): { readonly value: YamlNode; readonly line: number } | undefined {
  const target = node.kind === 'alias' ? node.target : node
  if (target.kind === 'sequence') {
    const item = /^\d+$/.test(part) ? target.items[Number(part)] : undefined
    return item === undefined ? undefined : { value: item, line: firstLine(item) ?? item.line }
  }
  if (target.kind !== 'mapping') return undefined
  const entry = target.entries.find(({ key }) => key.kind === 'scalar' && key.text === part)
  return entry === undefined ? undefined : { value: entry.value, line: entry.key.line }
}

/** Line of the first key; the mapping itself may start before it. */
const firstLine = (node: YamlNode): number | undefined => (node.kind === 'mapping' ? node.entries[0]?.key.line : undefined)

/** Runs expressions without yielding: the command serves no requests. */
function finish<T>(work: Generator<unknown, T, void>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
