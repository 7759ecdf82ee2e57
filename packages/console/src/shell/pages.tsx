// The pages of the header, in order.

import type { FunctionComponent } from 'preact'
import { useSession } from '../session/session-context.js'
import { showAccess } from '../understand/access-page.js'
import { showRequests } from '../understand/requests-page.js'
import { showServer } from '../understand/server-page.js'
import { Legacy } from './legacy.js'
import type { PageContext } from './page-context.js'
import type { Route } from './route.js'

export interface PageProps {
  readonly route: Route
}

interface Page {
  readonly id: string
  readonly title: string
  readonly Page: FunctionComponent<PageProps>
}

const legacy =
  (show: (host: HTMLElement, context: PageContext) => void): FunctionComponent<PageProps> =>
  ({ route }) => {
    const session = useSession()
    return <Legacy show={(host, signal) => show(host, { session, route, signal })} />
  }

export const pages: readonly Page[] = [
  { id: 'access', title: 'Access', Page: legacy(showAccess) },
  { id: 'requests', title: 'Requests', Page: legacy(showRequests) },
  { id: 'server', title: 'Server', Page: legacy(showServer) },
]
