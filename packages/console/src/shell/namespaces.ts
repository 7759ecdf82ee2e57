// The names of the namespaces, kept up to date; empty if the user may not list them.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { Informer, PartialObjectMetadata } from '@cluster-apiserver/client/browser.js'
import type { Session } from '../session/session.js'

export class Namespaces {
  private readonly informer: Informer<PartialObjectMetadata> | undefined

  constructor(session: Session, signal: AbortSignal) {
    const resource = session.resources.find((each) => each.resource === 'namespaces' && each.group === '')
    this.informer = resource && session.client.collection(resource).metadata.inform({ signal })
    this.informer?.ended.catch(() => undefined)
  }

  /** Resolves with the names once the first list has arrived or was refused. */
  async names(): Promise<readonly string[]> {
    await this.informer?.ready.catch(() => undefined)
    return sortTexts((this.informer?.list() ?? []).map(({ metadata }) => metadata?.name ?? ''))
  }
}
