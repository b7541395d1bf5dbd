import './app.css'
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { whenSignedOut } from './api/client'
import { problemOf } from './api/problem'
import { createAppRouter } from './router'
import { sessionQuery } from './shell/session'
import { complain, Toasts } from './ui/toasts'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refuses it will refuse again; what it could not do it may do in a moment.
      retry: (count, error) => count < 3 && (problemOf(error).status === 0 || problemOf(error).status >= 500),
    },
  },
  mutationCache: new MutationCache({
    onError: (error, _, __, mutation) => mutation.meta?.['quiet'] !== true && complain(error),
  }),
})
const router = createAppRouter(queryClient)
whenSignedOut(() => {
  if (queryClient.getQueryData(sessionQuery.queryKey) == null) return
  queryClient.setQueryData(sessionQuery.queryKey, null)
  void router.invalidate()
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
