// The result of a trial: the verdict of the server, and for each policy and binding its expressions with result, cost and trace.

import type { ExpressionTrial, PolicyTrial } from '@cluster-apiserver/api/resources/admissionregistration/policy/try-policies.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { objectRoute } from '../shell/route.js'
import { countText } from '../ui/format.js'
import { PlainTable } from '../ui/plain-table.js'
import { shortened } from '../ui/visible-text.js'
import type { TryResult } from './try-object.js'

const maxTrials = 200
const maxTextCharacters = 1000

export function TrialResults({ result: { refusal, isAsAdmitted, trials, stored, notes } }: { readonly result: TryResult }) {
  const applied = trials.filter(({ verdict }) => verdict !== 'does not apply')
  const others = trials.filter(({ verdict }) => verdict === 'does not apply')
  return (
    <>
      {refusal === undefined ? (
        <p class="verdict allowed">
          <strong>Accepted</strong> by a dry run of the server. The policies saw the object with its defaults.
        </p>
      ) : (
        <ErrorPanel error={refusal} title="Refused by a dry run of the server" />
      )}
      {!isAsAdmitted && (
        <p class="hint">The expressions below saw the object as you typed it: without the defaults that the server sets.</p>
      )}
      {notes.map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      {trials.length === 0 && <p class="empty">There is no policy.</p>}
      {applied.slice(0, maxTrials).map((trial) => (
        <Trial key={`${trial.policy} ${trial.binding}`} trial={trial} isStored={stored.has(trial.policy)} />
      ))}
      {others.length > 0 && <Others trials={others} />}
    </>
  )
}

function Trial({ trial, isStored }: { readonly trial: PolicyTrial; readonly isStored: boolean }) {
  const { policy, binding, verdict, reasons, expressions, cost } = trial
  return (
    <section class="trial" aria-label={`Policy ${policy}`}>
      <h2>
        Policy <PolicyLink name={policy} isStored={isStored} />
        {binding !== '' && <small>, binding {binding}</small>}
      </h2>
      <p class={`verdict ${verdict}`}>
        <strong>{verdict === 'denied' ? 'Denied' : 'Allowed'}</strong>
        {reasons.length > 0 && ` ${shortened(reasons.join('; '), maxTextCharacters)}`}
        <small class="count"> cost {countText(cost)}</small>
      </p>
      {expressions.length > 0 && (
        <PlainTable titles={['Expression', 'Result', 'Cost', 'Estimate', 'Values']}>
          {expressions.map((expression, i) => (
            <Expression key={`${i} ${expression.text}`} expression={expression} />
          ))}
        </PlainTable>
      )}
    </section>
  )
}

function PolicyLink({ name, isStored }: { readonly name: string; readonly isStored: boolean }) {
  const session = useSession()
  const resource = session.resources.find((each) => each.resource === 'validatingadmissionpolicies')
  return isStored && resource !== undefined ? <a href={objectRoute(resource, undefined, name)}>{name}</a> : <span>{name}</span>
}

function Expression({ expression: { text, result, message, cost, estimatedCost, trace } }: { readonly expression: ExpressionTrial }) {
  return (
    <tr class={result === 'true' ? '' : 'warning'}>
      <td class="path">
        <code>{shortened(text, maxTextCharacters)}</code>
      </td>
      <td>
        {result}
        {message !== '' && <p class="hint">{shortened(message, maxTextCharacters)}</p>}
      </td>
      <td class="figure">{countText(cost)}</td>
      <td class="figure">{estimatedCost === undefined ? 'unbounded' : estimatedCost.toLocaleString('en')}</td>
      <td>
        <ul class="trace">
          {trace.map((part) => (
            <li key={part.text}>
              <code>{part.text}</code> = <code>{part.value}</code>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  )
}

const Others = ({ trials }: { readonly trials: readonly PolicyTrial[] }) => (
  <section class="trial">
    <h2>Do not apply</h2>
    <PlainTable titles={['Policy', 'Binding', 'Why']}>
      {trials.slice(0, maxTrials).map(({ policy, binding, reasons }) => (
        <tr key={`${policy} ${binding}`}>
          <td>{policy}</td>
          <td>{binding}</td>
          <td>{reasons.join('; ')}</td>
        </tr>
      ))}
    </PlainTable>
  </section>
)
