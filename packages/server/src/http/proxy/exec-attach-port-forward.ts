// pods/exec, pods/attach and pods/portforward: upgraded connections (WebSocket or SPDY) to the kubelet.

import { badRequest } from '@cluster-apiserver/api/api/api-error.js'
import { isUpgradable } from '../../net/proxy/reverse-proxy.js'
import type { Location } from '../../verbs/virtual/virtual-resource-types.js'
import type { Exchange } from '../pipeline/exchange.js'
import { upgradeError, withQuery } from './backend-url.js'
import { type Backends, backendOf } from './backends.js'
import { forwardRequest } from './forward-request.js'

export async function serveUpgrade(exchange: Exchange, backends: Backends, location: Location): Promise<void> {
  if (!isUpgradable(exchange.response)) throw badRequest('Upgrade request required')
  const path = withQuery(location.path, location.query ?? '')
  try {
    await forwardRequest(exchange, {
      ...backendOf(backends, location),
      path,
      bytesPerSecond: backends.bytesPerSecond,
    })
  } catch (thrown) {
    throw upgradeError(thrown)
  }
}
