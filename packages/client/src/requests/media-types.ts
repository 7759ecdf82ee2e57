// Media types of requests (Accept, patches) and the DeleteOptions body.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { DeleteOptions, PatchType } from './request-options.js'

export const patchMediaTypes: { readonly [Type in PatchType]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/** Accepts the group names of both identities, so no discovery is needed first. */
const acceptAs = (kind: string): string =>
  identityNames.map((name) => `application/json;as=${kind};g=${identityOf(name).group({ stem: 'meta' })};v=v1`).join(',')

export const tableAccept = `${acceptAs('Table')},application/json`
export const metadataAccept = `${acceptAs('PartialObjectMetadata')},application/json`
export const metadataListAccept = `${acceptAs('PartialObjectMetadataList')},application/json`
export const aggregatedDiscoveryAccept = `${identityNames
  .map((name) => `application/json;as=APIGroupDiscoveryList;g=${identityOf(name).group({ stem: 'apidiscovery' })};v=v2beta1`)
  .join(',')},application/json`

export function deleteBody({ dryRun, gracePeriodSeconds, propagationPolicy, preconditions }: DeleteOptions): object | undefined {
  if (dryRun !== true && gracePeriodSeconds === undefined && propagationPolicy === undefined && preconditions === undefined)
    return undefined
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
  }
}
