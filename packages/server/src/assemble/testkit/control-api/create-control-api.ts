// Creates the control API of a server, with the token from --testkit-token-file or from the data folder.

import { randomBytes } from 'node:crypto'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { readOptionalFile, testkitTokenFile, writePrivateFile } from '../../../options/files/private-files.js'
import type { Settings } from '../../../options/settings.js'
import { clockRoutes } from './clock-routes.js'
import { ControlApi } from './control-api.js'
import { faultRoutes } from './fault-routes.js'
import { inspectionRoutes } from './inspection-routes.js'
import type { Route } from './route.js'
import { stateRoutes } from './state-routes.js'
import { webhookRoutes } from './webhook-routes.js'

const tokenBytes = 32

export const createControlApi = ({ testkit, dataDir }: Pick<Settings, 'testkit' | 'dataDir'>, logger: Logger): ControlApi =>
  new ControlApi({ token: testkit?.token ?? ensureToken(dataDir), routes, logger })

/** A server without a data folder gets a new token at each start. */
function ensureToken(dataDir: string | undefined): string {
  const path = dataDir && testkitTokenFile(dataDir)
  const existing = path && readOptionalFile(path)?.trim()
  if (existing) return existing
  const token = randomBytes(tokenBytes).toString('hex')
  if (path) writePrivateFile(path, `${token}\n`)
  return token
}

const capabilities: readonly Route[] = [...faultRoutes, ...clockRoutes, ...inspectionRoutes, ...stateRoutes, ...webhookRoutes]

const index: Route = {
  method: 'GET',
  path: '/',
  summary: 'lists the endpoints',
  run: () => ({ endpoints: routes.map(({ method, path, summary }) => ({ method, path: `/testkit${path}`, summary })) }),
}

const routes: readonly Route[] = [index, ...capabilities]
