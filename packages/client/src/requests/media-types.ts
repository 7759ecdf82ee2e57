// What a client asks for and says it sends, and the body of a DELETE.

import { identityNames, identityOf } from '../api/identity.js'
import type { DeleteOptions, PatchType } from './query.js'

export const patchMediaTypes: { readonly [Type in PatchType]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/** In either vocabulary, so that nobody has to find out first which one the server speaks. */
const asForm = (form: string): string =>
  identityNames.map((name) => `application/json;as=${form};g=${identityOf(name).group({ stem: 'meta' })};v=v1`).join(',')

export const tableAccept = `${asForm('Table')},application/json`
export const metadataAccept = `${asForm('PartialObjectMetadata')},application/json`
export const metadataListAccept = `${asForm('PartialObjectMetadataList')},application/json`
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
