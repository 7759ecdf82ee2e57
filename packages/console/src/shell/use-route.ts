// The address of the page, followed.

import { useSubscription } from '../ui/hooks.js'
import { type Route, readRoute } from './route.js'

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  useSubscription(subscribe, [])
  return readRoute(location.hash)
}
