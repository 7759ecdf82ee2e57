// The pages of the header, in order.

import type { FunctionComponent } from 'preact'
import { PoliciesPage } from '../policies/policies-page.js'
import { AccessPage } from '../understand/access-page.js'
import { RequestsPage } from '../understand/requests-page.js'
import { ServerPage } from '../understand/server-page.js'
import type { PageProps } from './page.js'

interface Page {
  readonly id: string
  readonly title: string
  readonly Page: FunctionComponent<PageProps>
}

export const pages: readonly Page[] = [
  { id: 'access', title: 'Access', Page: AccessPage },
  { id: 'policies', title: 'Policies', Page: PoliciesPage },
  { id: 'requests', title: 'Requests', Page: RequestsPage },
  { id: 'server', title: 'Server', Page: ServerPage },
]
