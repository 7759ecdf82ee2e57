// Server-side apply: merges an applied configuration into the stored object and its managedFields, and reports conflicts.

import { conflict } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { SubresourceView } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { fieldValidationOf, isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import { withDistinctOwners } from '@cluster-apiserver/api/api/validation/metadata/object-meta.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { parentEntries, type ScaleFields, scaleEntries } from '@cluster-apiserver/api/patch/managed-fields/scale-subresource.js'
import { type ApplyOutcome, apply } from '@cluster-apiserver/api/patch/server-side-apply/apply.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { checkNamespace, inNamespace } from './create.js'
import { kindVersions, resetFieldsOf } from './managed-fields.js'
import { noProblems, type PatchRequest, readPatched, reportProblems, translatePatchErrors, unchangedBase } from './read-patched.js'
import { checkName } from './update.js'
import { fromStored, toEndpointVersion, withDefaults, writeView } from './version-conversion.js'

export function applyAsCreate(call: Call, request: PatchRequest): ApiObject {
  const object = applyToObject(call, undefined, request)
  const uid = (request.patch as ApiObject).metadata?.uid
  if (uid === undefined) return object
  throw conflict(
    call.resource.subject,
    call.name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  )
}

export function applyToObject(call: Call, live: ApiObject | undefined, request: PatchRequest): ApiObject {
  const config = request.patch as ApiObject
  const { schema, kind, apiVersion, schemaFor, convert } = kindVersions(call)
  const shown = live === undefined ? undefined : fromStored(call, live)
  const result = translatePatchErrors(() =>
    apply({
      live: shown,
      config,
      liveManagedFields: live?.metadata?.managedFields,
      manager: call.options.fieldManager ?? '',
      schema,
      kind,
      apiVersion,
      schemaFor,
      convert,
      subresource: call.subresource?.name ?? '',
      force: call.options.force ?? false,
      time: timeOf(call.now),
      clientSideApply: clientSideApply(call.identity),
      reset: resetFieldsOf(call),
    }),
  )
  reportDuplicates(call, request)
  checkNamespace(call, config)
  const object = !result.isChanged && shown !== undefined ? shown : withDefaults(call, readApplied(call, request, { live, shown, result }))
  // After the merge: conflicts are reported before a wrong name. A configuration without a name gets the name of the URL.
  checkName(call, object)
  return withMetadata(withDistinctOwners(inNamespace(call, object), call.warn, true), {
    managedFields: result.managedFields,
    resourceVersion: config.metadata?.resourceVersion ?? live?.metadata?.resourceVersion,
  })
}

/** Called after the merge: conflicts and type errors have no warnings. A dry run has none either, but fails if Strict. */
function reportDuplicates(call: Call, request: PatchRequest): void {
  if (fieldValidationOf(call) === 'Strict' || !isDryRun(call.options)) reportProblems(call, request, noProblems)
}

const withoutDuplicates = (request: PatchRequest): PatchRequest => ({ ...request, duplicates: [] })

interface Applied {
  readonly live: ApiObject | undefined
  readonly shown: ApiObject | undefined
  readonly result: ApplyOutcome
}

const readApplied = (call: Call, request: PatchRequest, { live, shown, result }: Applied): ApiObject =>
  readPatched(call.resource.schema, call, {
    request: withoutDuplicates(request),
    result: result.object,
    before: shown === live ? unchangedBase(call.resource, live) : undefined,
  })

/** Apply to /scale: managedFields of the parent are translated to the fields of the scale and back. */
export function applyToScale(call: Call, live: ApiObject, request: PatchRequest): ApiObject {
  const config = request.patch as ApiObject
  const view = call.subresource?.view as SubresourceView
  const shown = call.subresource?.shown ?? call.resource
  const { kind, apiVersion, schema } = shown
  const fields: ScaleFields = {
    scaleVersion: apiVersion,
    apiVersion: call.resource.apiVersion,
    replicasPath: (version) => {
      const known = call.resource.versions.get(version)
      return known && (known.replicasPath ?? 'spec.replicas')
    },
  }
  const parent = live.metadata?.managedFields
  const result = translatePatchErrors(() =>
    apply({
      live: toEndpointVersion(call, shown, live),
      config,
      liveManagedFields: scaleEntries(fields, parent),
      manager: call.options.fieldManager ?? '',
      schema,
      kind,
      apiVersion,
      schemaFor: (version) => (version === apiVersion ? schema : undefined),
      convert: (object) => object,
      subresource: call.subresource?.name ?? '',
      force: call.options.force ?? false,
      time: timeOf(call.now),
    }),
  )
  reportDuplicates(call, request)
  checkNamespace(call, config)
  const sent = inNamespace(call, readPatched(schema, call, { request: withoutDuplicates(request), result: result.object }))
  checkName(call, sent)
  return withMetadata(writeView(call, view, { sent, live }), {
    managedFields: parentEntries(fields, { parent, scale: result.managedFields }),
    resourceVersion: config.metadata?.resourceVersion ?? live.metadata?.resourceVersion,
  })
}

/** Manager and annotation of client-side apply: its fields pass to the first server-side apply. */
const clientSideApply = weakMemoize((identity: Identity) => ({
  manager: 'kubectl',
  annotation: identity.label('last-applied-configuration', 'kubectl'),
}))
