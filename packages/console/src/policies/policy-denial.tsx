// The link from a request that an admission policy denied to the page that tries its object.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import { useSession } from '../session/session-context.js'
import { routeTo } from '../shell/route.js'
import { keepDraft } from './draft.js'

interface PolicyDenialProps {
  readonly error: unknown
  /** YAML of the object that was sent. */
  readonly object: string
  readonly operation: Operation
}

const denial = /\bValidatingAdmissionPolicy '[^']+'.* denied request: /

/** Nothing for other errors. */
export function PolicyDenial({ error, object, operation }: PolicyDenialProps) {
  const session = useSession()
  if (!denial.test(errorMessage(error))) return null
  return (
    <p>
      <a href={routeTo(['policies'])} onClick={() => keepDraft(session, { object, operation })}>
        Which expression, with which values?
      </a>
    </p>
  )
}
