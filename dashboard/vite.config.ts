import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Built into the package; the server says where it is mounted, so every address in it is relative. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), tailwindcss()],
  build: { outDir: '../dist/dashboard', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  // `npx vite dashboard` beside a running Postrider, for those who work on the dashboard itself.
  server: { proxy: { '/api': 'http://127.0.0.1:3400' } },
})
