// Pods of one node, found by the field index of their entries.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { everything } from '../../../objects/list/selection.js'
import type { ControllerParts, Run } from '../../framework/controller.js'

/** Empty if the pod is not assigned. */
export const nodeNameOf = (pods: Resource, stored: StoredObject): string => stored.fields(pods)?.['spec.nodeName'] ?? ''

export async function podsOnNode(
  { engine }: Pick<ControllerParts, 'engine'>,
  pods: Resource,
  { node, run }: { readonly node: string; readonly run: Run },
): Promise<readonly Pod[]> {
  const found: Pod[] = []
  for (const stored of engine.store.readInSteps({ resource: pods, namespace: '', selection: everything })) {
    if (stored !== undefined && nodeNameOf(pods, stored) === node) found.push(stored.decode(pods) as Pod)
    await run.budget.yieldIfSpent()
  }
  return found
}
