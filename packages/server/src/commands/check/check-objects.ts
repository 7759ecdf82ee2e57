// Objects go the way of a write, without a server: decoded strictly, defaulted, held against their schema, their rules and all policies.

import { AdmissionRequest } from '../../admission/admission.js'
import { describeRefusal, type PolicyParts, refusalsOf } from '../../admission/plugins/validating-admission-policy.js'
import type { CompiledPolicy } from '../../admission/policy/compiled-policy.js'
import type { Asked } from '../../admission/policy/evaluate-policy.js'
import { expressionLimit } from '../../admission/policy/evaluate-policy.js'
import { policiesInForce } from '../../admission/policy/policies-in-force.js'
import { PolicyTallies } from '../../admission/policy/policy-tallies.js'
import { ApiError } from '../../api/api-error.js'
import { Call, type Caller } from '../../api/call.js'
import { Catalog, type Resource } from '../../api/catalog.js'
import { CatalogSource } from '../../api/catalog-source.js'
import type { AskedExpression } from '../../api/definition.js'
import { parseFeatureGates } from '../../api/feature-gates.js'
import type { Identity } from '../../api/identity.js'
import { type ApiObject, withMetadata } from '../../api/object.js'
import type { User } from '../../api/user.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { onceFor } from '../../base/once-for.js'
import { atOnce } from '../../base/pieces.js'
import { traceExpression } from '../../cel/trace.js'
import { shapeObject } from '../../codec/decode-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { definitions } from '../../resources/index.js'
import { timeOf } from '../../schema/scalars.js'
import { ExpressionBook } from './expression-book.js'
import type { CheckedObject, Finding, TracedPart } from './findings.js'
import { FieldLocator } from './locate-field.js'
import type { Manifest } from './read-manifests.js'

export interface CheckSettings {
  readonly identity: Identity
  readonly store: ObjectStore
  /** Milliseconds since 1970. */
  readonly now: number
  /** Where objects are that do not say so. */
  readonly namespace: string
  readonly user: User
  readonly wantsTrace: boolean
}

/** An object that is right in itself. */
interface Accepted {
  readonly manifest: Manifest
  readonly resource: Resource
  readonly call: Call
  readonly object: ApiObject
  readonly title: string
}

const nothing = new Uint8Array()
/** As a server has them that nobody told anything else. */
const defaultGates = parseFeatureGates([])

const byKind = onceFor(
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
  readonly expressions = new ExpressionBook()
  private readonly settings: CheckSettings
  private readonly catalogs: CatalogSource
  private readonly locator = new FieldLocator()
  private readonly accepted: Accepted[] = []
  private readonly policyParts: PolicyParts
  /** Where policies come from, by name. */
  private readonly policies = new Map<string, Manifest>()
  private traces: readonly TracedPart[] | undefined

  constructor(settings: CheckSettings) {
    const { identity, store } = settings
    this.settings = settings
    this.catalogs = new CatalogSource(new Catalog({ identity, definitions, isServed: () => true }))
    this.policyParts = {
      store,
      catalogs: this.catalogs,
      namespaces: this.builtIn('', 'v1', 'namespaces'),
      policies: this.builtIn(identity.group({ stem: 'admissionregistration' }), 'v1alpha1', 'validatingadmissionpolicies'),
      bindings: this.builtIn(identity.group({ stem: 'admissionregistration' }), 'v1alpha1', 'validatingadmissionpolicybindings'),
      tallies: new PolicyTallies(),
      observe: (policy, asked) => this.notePolicy(policy, asked),
    }
  }

  private builtIn(group: string, version: string, name: string): Resource {
    const found = this.catalogs.current.find(group, version, name)
    if (found === undefined) throw new Error(`${name} are not served`)
    return found
  }

  /** Definitions first, so that what they describe is known; then the rest; then every policy against everything. */
  async check(manifests: readonly Manifest[]): Promise<void> {
    const isDefinition = ({ value }: Manifest): boolean => value['kind'] === 'CustomResourceDefinition'
    for (const manifest of manifests.filter(isDefinition)) this.checkDefinition(manifest)
    for (const manifest of manifests) if (!isDefinition(manifest)) this.checkObject(manifest)
    await this.keepWhatPoliciesRead()
    this.checkPolicies()
  }

  private find(manifest: Manifest, apiVersion: string, kind: string): Resource | undefined {
    const found = byKind(this.catalogs.current).get(`${apiVersion} ${kind}`)
    if (found !== undefined) return found
    const other = this.settings.identity.translate(apiVersion.split('/')[0] ?? '')
    const hint = other === undefined ? '' : `; did you mean --identity=${other.from}?`
    this.fail(manifest, 'apiVersion', `no kind ${JSON.stringify(kind)} is known in version ${JSON.stringify(apiVersion)}${hint}`)
    return undefined
  }

  private checkDefinition(manifest: Manifest): void {
    const accepted = this.checkObject(manifest)
    if (accepted === undefined) return
    const definition = accepted.object as CustomResourceDefinition
    this.expressions.addDefinition(definition, accepted.title, (field) => this.placeOf(manifest, field))
    this.catalogs.change({ put: [customKind({ ...definition, status: { acceptedNames: definition.spec?.names ?? {} } })] })
  }

  private checkObject(manifest: Manifest): Accepted | undefined {
    const { apiVersion = '', kind = '' } = manifest.value as { apiVersion?: string; kind?: string }
    const title = titleOf(manifest)
    this.objects.push({ file: manifest.file, line: this.lineOf(manifest, ''), object: title })
    for (const duplicate of manifest.duplicates) this.fail(manifest, '', duplicate)
    const resource = this.find(manifest, apiVersion, kind)
    if (resource === undefined) return undefined
    const before = this.findings.length
    try {
      const { object, problems } = shapeObject({ value: manifest.value }, nothing, resource)
      for (const problem of problems) this.fail(manifest, /"(.*)"/.exec(problem)?.[1] ?? '', problem)
      const accepted = this.checkRules({ manifest, resource, object, title })
      return this.hasFailed(before) ? undefined : accepted
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      this.fail(manifest, /json: ([\w.[\]-]+):/.exec(thrown.message)?.[1] ?? '', thrown.message)
      return undefined
    }
  }

  private checkRules({ manifest, resource, object, title }: Omit<Accepted, 'call'>): Accepted {
    const call = this.callFor(manifest, resource, object)
    const filled = resource.defaults?.(placed(call, object), call) ?? placed(call, object)
    const stored = resource.toStored?.(filled) ?? filled
    const stamped = withMetadata(stored, {
      name: stored.metadata?.name ?? (stored.metadata?.generateName ? `${stored.metadata.generateName}00000` : undefined),
      uid: '00000000-0000-0000-0000-000000000000',
      creationTimestamp: timeOf(this.settings.now),
      resourceVersion: undefined,
    })
    const prepared = resource.definition.prepareCreate?.(stamped, call) ?? stamped
    const errors = [...validateCreation(resource.definition, prepared, call)]
    const failed: AskedExpression[] = []
    const context = { ...call, onExpression: (asked: AskedExpression) => this.noteRule(resource, asked, failed) }
    const work = resource.definition.expressions?.(prepared, undefined, context as never, errors)
    const more = work === undefined ? [] : atOnce(work)
    for (const { field, message } of errors) this.fail(manifest, field, message)
    more.forEach(({ field, message }, i) => {
      this.fail(manifest, field, message, this.settings.wantsTrace ? failed[i]?.trace() : undefined)
    })
    for (const text of resource.definition.warnings?.(prepared, undefined, call) ?? []) this.warn(manifest, text)
    const accepted = { manifest, resource, call, object: prepared, title }
    if (errors.length + more.length === 0) this.accepted.push(accepted)
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

  /** Policies, bindings, namespaces, and objects of the kinds that policies take parameters from. */
  private async keepWhatPoliciesRead(): Promise<void> {
    const { policies, bindings, namespaces } = this.policyParts
    const params = new Set(
      this.accepted.flatMap(({ resource, object }) => {
        const { paramKind } = (object as { spec?: { paramKind?: { apiVersion?: string; kind?: string } } }).spec ?? {}
        return resource === policies && paramKind !== undefined ? [`${paramKind.apiVersion} ${paramKind.kind}`] : []
      }),
    )
    const kept = new Set([policies, bindings, namespaces].map(({ collection }) => collection))
    const missing = new Map<string, ApiObject>()
    for (const { manifest, resource, object, call } of this.accepted) {
      if (resource === policies) this.policies.set(object.metadata?.name ?? '', manifest)
      if (call.namespace !== '') missing.set(call.namespace, { metadata: namespaceMetadata(call.namespace, this.settings.identity) })
      if (kept.has(resource.collection) || params.has(`${resource.apiVersion} ${resource.kind}`)) await this.put(resource, object)
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

  private checkPolicies(): void {
    const { policies, bindings } = this.policyParts
    const inForce = policiesInForce(this.policyParts)()
    if (inForce.length === 0) return
    for (const { manifest, resource, call, object } of this.accepted) {
      if (resource === policies || resource === bindings) continue
      this.traces = undefined
      const request = new AdmissionRequest(call, 'CREATE', { object, old: undefined })
      for (const refusal of atOnce(refusalsOf(inForce, request, this.policyParts)))
        this.fail(manifest, '', describeRefusal(refusal), this.traces)
    }
  }

  private notePolicy(policy: CompiledPolicy, { index, compiled, value, cost, variables }: Asked): void {
    const manifest = this.policies.get(policy.name)
    const { program, validation } = compiled
    if (manifest === undefined || program === undefined) return
    const field = `spec.validations[${index}].expression`
    this.expressions.ask(`policy ${policy.name} ${index}`, { cost, holds: value === true }, () => ({
      ...this.placeOf(manifest, field),
      object: `ValidatingAdmissionPolicy ${policy.name}`,
      field,
      text: validation.expression ?? '',
      program,
    }))
    if (value !== true && this.settings.wantsTrace) this.traces = traceExpression(program, variables, expressionLimit)
  }

  private noteRule({ definition }: Resource, asked: AskedExpression, failed: AskedExpression[]): void {
    if (!asked.holds) failed.push(asked)
    this.expressions.askRule(definition, asked)
  }

  private placeOf(manifest: Manifest, field: string): { readonly file: string; readonly line: number } {
    return { file: manifest.file, line: this.lineOf(manifest, field) }
  }

  private lineOf(manifest: Manifest, field: string): number {
    // Most objects are right, and the first document of a file begins with it.
    return field === '' && manifest.line === 1 && manifest.within === '' ? 1 : this.locator.lineOf(manifest, field)
  }

  private hasFailed(before: number): boolean {
    return this.findings.slice(before).some(({ severity }) => severity === 'failure')
  }

  private fail(manifest: Manifest, field: string, message: string, trace?: readonly TracedPart[]): void {
    this.note('failure', manifest, field, message, trace)
  }

  private warn(manifest: Manifest, message: string): void {
    this.note('warning', manifest, '', message)
  }

  private note(severity: Finding['severity'], manifest: Manifest, field: string, message: string, trace?: readonly TracedPart[]): void {
    const shown = field === '<nil>' ? '' : field
    this.findings.push({
      severity,
      ...this.placeOf(manifest, shown),
      objectLine: this.lineOf(manifest, ''),
      object: titleOf(manifest),
      field: shown,
      message,
      ...(trace === undefined || trace.length === 0 ? {} : { trace }),
    })
  }
}

/** As people name an object. */
function titleOf({ value }: Manifest): string {
  const { apiVersion = '', kind = '', metadata } = value as { apiVersion?: string; kind?: string; metadata?: ApiObject['metadata'] }
  return `${apiVersion} ${kind} ${metadata?.name ?? metadata?.generateName ?? ''}`.trim()
}

const placed = ({ namespace, resource }: Call, object: ApiObject): ApiObject =>
  resource.namespaced && object.metadata?.namespace === undefined ? withMetadata(object, { namespace }) : object

const namespaceMetadata = (name: string, identity: Identity): NonNullable<ApiObject['metadata']> => ({
  name,
  uid: name,
  labels: { [identity.label('metadata.name')]: name },
})
